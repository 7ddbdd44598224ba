"""The lake behind the gateway: repositories, refs and objects, as one user may use them."""
