"""Connections and the process of the server: clients that are slow, idle or many, and how it ends."""
