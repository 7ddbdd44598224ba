"""What a user can do: one function for each operation of the API, free of HTTP and of AWS."""
