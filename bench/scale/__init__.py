"""Rates and waits of many functions, in a model of DynamoDB: `python -m bench.scale`."""
