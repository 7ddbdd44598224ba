"""Lambda entry points, one folder each."""
