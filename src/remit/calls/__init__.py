"""One call: merge pins, repair, validate, plan the exact request, shape the answer. Pure."""
