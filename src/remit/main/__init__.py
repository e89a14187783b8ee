"""The outermost room: settings, the composition root, the command line, the demo."""
