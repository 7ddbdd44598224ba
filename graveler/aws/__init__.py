"""Adapters of the engine's ports to AWS: the only room that knows DynamoDB, S3 and KMS."""
