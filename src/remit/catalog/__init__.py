"""Declared tools: from a decoded document to frozen values, every mistake located. Pure."""
