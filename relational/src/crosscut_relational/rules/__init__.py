"""First-order rules."""
