"""What people see beside the text: self-contained pages."""
