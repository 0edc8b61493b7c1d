"""Relational (first-order) trees: databases of facts, a language of tests, and what grows from them."""
