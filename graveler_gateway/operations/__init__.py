"""S3's operations on repositories, refs and objects: one function for each, found in `table`."""
