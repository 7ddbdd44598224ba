"""Ref expressions, and walks over the commit graph: resolution, log, merge base."""
