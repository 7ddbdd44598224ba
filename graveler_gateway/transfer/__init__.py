"""Moves the bytes of objects between clients and S3, in constant memory."""
