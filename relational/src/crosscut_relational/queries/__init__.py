"""Queries on a database: their truth, the candidate tests of a language, and the growth of trees."""
