"""Committed data: immutable ranges of records, and metaranges that list them."""
