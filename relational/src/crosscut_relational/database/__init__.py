"""Facts, background clauses and examples, and the files and tables they come from."""
