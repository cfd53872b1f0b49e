"""Files of tables: opened, read whole or in chunks, written."""
