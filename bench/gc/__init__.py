"""The cost of a garbage collection, by objects and by commits."""
