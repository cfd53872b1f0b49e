"""The fourth pass: every shard names its best neighbours of a batch of queries, and the best of all are taken."""
