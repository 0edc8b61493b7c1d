"""Asking a database: the truth of queries, the tests of a language, and the trees that grow from them."""
