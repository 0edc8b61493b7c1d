"""Relational models in model files."""
