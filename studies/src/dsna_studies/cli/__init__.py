"""The command line of the studies."""

REMEDY = "pip install -e studies, from a clone"
