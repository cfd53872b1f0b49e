"""Connections and process of the server: handling of slow, idle and many clients, and shutdown."""
