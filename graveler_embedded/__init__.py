"""The embedded stack: the Lambda handlers behind HTTP on loopback, beside local stores."""
