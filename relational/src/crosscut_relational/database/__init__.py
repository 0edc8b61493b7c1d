"""Databases: facts, background clauses and examples, read from files and tables."""
