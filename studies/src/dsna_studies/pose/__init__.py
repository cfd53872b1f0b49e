"""``python -m dsna_studies pose``: head pose on Pointing'04, both angles."""
