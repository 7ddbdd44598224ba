"""Entry points of the Lambda functions; each folder is one function."""
