"""Iceberg's table metadata: the first one of a table, and commits that update it.

Metadata are JSON objects, as in Iceberg's specification, and are never changed: a function returns
new ones that share what stays. Fields that this room does not know are kept. A message of Iceberg
is checked against `shapes` before it is read, so any JSON gives a result or an `InvalidInputError`.
"""
