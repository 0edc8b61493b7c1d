"""The command `crosscut relational`, and what other commands need of relational models."""
