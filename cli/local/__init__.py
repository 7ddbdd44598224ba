"""Folders that mirror a path of a ref, as lakectl's `local`: what differs, and how to apply it.

A folder's walk and a ref's listing are sorted alike, so differences come from one pass over both,
in bounded memory. No content is read to find them: size and modification time decide.
"""
