"""The second level: candidates of a first edge map, described in the frame of their own edge and scored anew."""
