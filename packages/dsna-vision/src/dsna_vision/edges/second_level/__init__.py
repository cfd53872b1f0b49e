"""Second level: candidate pixels of a first edge map, described relative to their own edge and rescored."""
