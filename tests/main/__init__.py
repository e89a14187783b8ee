"""Tests of the outermost room."""
