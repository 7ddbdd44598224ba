"""Jobs of Glue: what takes Spark to do, over a whole repository."""
