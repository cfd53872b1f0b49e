"""What an edge was made of: training patches, their outlines and where they are from."""
