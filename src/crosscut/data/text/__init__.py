"""The reader of text files: dialect, types of columns, dates."""
