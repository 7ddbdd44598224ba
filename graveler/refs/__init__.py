"""Names for commits and the walks over their graph: expressions, resolution, log, merge base."""
