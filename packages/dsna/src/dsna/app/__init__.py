"""From a table to a model and to answers: what the commands do, for programs too."""
