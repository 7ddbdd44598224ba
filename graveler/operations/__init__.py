"""The operations of the API: one function for each, free of HTTP and of AWS."""
