"""The versioning engine, pure over the ports of `graveler.ports`; `graveler.aws` adapts them."""
