"""Reading table files, whole or in chunks, and writing them."""
