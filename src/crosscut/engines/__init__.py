"""Where statistics come from: memory, a stream of batches, a cluster."""
