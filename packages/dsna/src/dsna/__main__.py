"""``python -m dsna ...`` is ``dsna ...``, also of a clone that is not installed."""

from .cli.main import main

if __name__ == "__main__":
    main()
