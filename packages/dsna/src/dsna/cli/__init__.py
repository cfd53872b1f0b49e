"""The command line ``dsna ...``: one file per group of commands; ``main.py`` is the entry point."""
