"""S3's HTTP protocol, pure: signatures, bodies, XML documents, conditions, errors."""
