"""The fourth pass: every shard returns its best neighbours of a batch of queries, and the best of all are selected."""
