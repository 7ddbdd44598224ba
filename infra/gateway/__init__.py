"""The stack of the S3 gateway on Fargate, for deployments whose settings choose it."""
