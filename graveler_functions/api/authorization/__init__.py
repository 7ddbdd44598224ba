"""Access control of the API: what each operation needs, and where requests name it."""
