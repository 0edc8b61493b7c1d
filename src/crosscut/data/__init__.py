"""Turn files and frames into typed columns, ranks, a table and a target."""
