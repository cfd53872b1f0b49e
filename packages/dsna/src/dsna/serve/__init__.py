"""A model behind a web address: a form, an upload and a JSON API, for people and programs that have no Python."""
