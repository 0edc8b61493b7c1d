"""Trees grown level by level from files that need not fit in memory, on one machine or with Dask."""
