"""Web server for a model: a form, an upload and a JSON API, for people and programs without Python."""
