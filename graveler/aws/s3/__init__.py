"""The stores whose files live in S3."""
