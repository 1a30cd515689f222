"""One search strategy per file; the file's name is the strategy's, and its `STRATEGY` describes it."""
