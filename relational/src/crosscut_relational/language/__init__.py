"""The language of tests: terms, clauses, modes and the bias that is made of them."""
