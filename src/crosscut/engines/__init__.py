"""Engines that compute statistics in memory, on streams of batches, or on a cluster."""
