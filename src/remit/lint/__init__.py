"""Rules over catalogs and definitions: what a reviewer would ask, found beforehand. Pure."""
