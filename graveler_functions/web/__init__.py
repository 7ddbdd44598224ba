"""The web page: a small function of its own, without the layer of the others."""
