"""``dsna reproduce pose``: head pose on Pointing'04, both angles."""
