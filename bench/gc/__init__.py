"""What a collection of garbage costs, by objects and by commits."""
