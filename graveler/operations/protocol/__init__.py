"""What every operation on a branch goes through: finding, reading, staging and moving heads."""
