"""The layer of all functions: the engine and its dependencies."""
