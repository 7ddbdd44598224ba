"""Import: entries of objects that stay where they are, in place of what is at their destinations.

`request` is what users ask for, `listing` makes records of listed objects, `changes` applies them.
"""
