"""Folders that mirror a path of a ref (`graveler local`): what differs, and how to apply it.

A folder's walk and a ref's listing have the same order, so one pass finds the differences, in
bounded memory. Files are compared by size and modification time. Content is read only of files that
were stored in the second of their modification. A later change in that second keeps the time.
"""
