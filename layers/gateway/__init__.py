"""The image of the S3 gateway, which Docker builds."""
