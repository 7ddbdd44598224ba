"""Graveler and lakeFS beside each other, over the same kinds of stores, near and far away."""
