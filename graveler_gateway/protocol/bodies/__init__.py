"""Bodies of requests: their framing, and the checks that their heads promise."""
