"""What people see beside the text: the terminal and the report."""
