"""One module of tests for each module of code, of the same name."""
