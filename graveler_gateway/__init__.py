"""The S3 gateway: S3's HTTP API over repositories, `s3://<repository>/<ref>/<path>`."""
