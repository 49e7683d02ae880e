"""Other libraries' objects in, results out; those libraries are imported only where they are needed."""
