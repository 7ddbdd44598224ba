"""Adapters of the engine's ports to AWS: the only place that knows DynamoDB, S3 and KMS."""
