"""What chance scores: laws, exactly or by simulation."""
