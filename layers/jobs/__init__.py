"""The archive of all Glue jobs: the jobs, the engine, and what Glue does not bring."""
