"""S3's XML documents: answers are written to bytes, request bodies are parsed to values."""
