"""Remit lets AI agents act inside an app, within a remit that a person can read."""

__version__ = "0.1.0"
