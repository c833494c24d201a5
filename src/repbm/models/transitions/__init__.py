"""The log as a table of (s, a, r, s'), scaled and weighted."""
