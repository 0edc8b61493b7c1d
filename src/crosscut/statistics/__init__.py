"""Scores of held-out rows, their standard errors and intervals, and comparisons of models."""
