"""The command `crosscut relational`, and the viewer that `crosscut show` and `predict` use."""
