"""The lake beside the engine: over its stores, in the gateway that a deployment runs."""
