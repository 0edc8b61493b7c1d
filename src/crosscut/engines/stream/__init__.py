"""Grow trees level by level from data that need not fit in memory, on one machine or with Dask."""
