"""One file per measure of information."""
