"""How fast large commits are over the real stores, DynamoDB Local and S3Proxy."""
