"""Pictures: features, edges and readers of picture collections."""
