"""Folders that mirror a path of a ref, as lakectl's `local`: what differs, and how to apply it.

A folder's walk and a ref's listing are sorted alike, so differences come from one pass over both,
in bounded memory. Size and modification time decide; content is read only of files that were stored
within the second of their modification, since a later one of that second has the same time.
"""
