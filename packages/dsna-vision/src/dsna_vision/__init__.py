"""Pictures: features, edges and readers of picture collections."""

__version__ = "0.1.0"
