"""The HTTP server of the gateway: from a request's bytes to an operation, and back."""
