"""The command line of the studies."""

PROGRAM = "python -m dsna_studies"
REMEDY = "pip install -e studies, from a clone"
