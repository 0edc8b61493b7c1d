"""From training sets and tasks to fits: checks, growing, held-out rows and their scores."""
