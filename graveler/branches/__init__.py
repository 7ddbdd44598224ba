"""Steps that operations on branches share: finding, reading, staging and moving heads."""
