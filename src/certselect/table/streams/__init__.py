"""Tables that are read block by block, because they may be larger than memory."""
