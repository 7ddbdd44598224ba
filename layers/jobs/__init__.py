"""The archive of all Glue jobs: the jobs, the engine, and dependencies that Glue lacks."""
