"""Benchmarks: every figure is a ratio to a limit or a reference measured in the same run."""
