"""The stores whose records live in DynamoDB."""
