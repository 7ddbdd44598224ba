"""The image of the S3 gateway: what its Dockerfile builds."""
