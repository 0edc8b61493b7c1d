"""Files and frames become typed columns, ranks, a table and a target."""
