"""The layer of all functions: the engine and what it needs."""
