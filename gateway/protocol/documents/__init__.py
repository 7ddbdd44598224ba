"""S3's XML documents, in both directions."""
