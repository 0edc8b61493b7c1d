"""Training sets and tasks become fits: the checks, the growing, the held-out rows and their scores."""
