"""Glue jobs: work on a whole repository that needs Spark."""
