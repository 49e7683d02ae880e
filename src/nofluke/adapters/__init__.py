"""nofluke from where users are: other libraries' estimators in, results out. None of them is imported before it is needed."""
