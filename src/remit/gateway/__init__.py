"""Use cases, and the ports through which they reach the world. Async; no I/O of its own."""
