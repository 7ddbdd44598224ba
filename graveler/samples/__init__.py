"""Sample data: the files that a new repository begins with, if its creator asks for them."""
