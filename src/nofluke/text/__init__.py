"""Numbers and tables as text, and data frames."""
