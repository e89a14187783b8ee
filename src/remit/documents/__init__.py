"""Documents: strict JSON and YAML, canonical JSON, bounded JSON Schema. Pure."""
