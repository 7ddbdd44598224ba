"""The deployment to AWS: a CDK app."""
