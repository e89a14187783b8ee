"""Reads case files by their shape and runs them against the product's public surface."""
