"""Recipes of Lambda layers."""
