"""Rules over catalogs and definitions: what a reviewer would ask, found before anybody has to. Pure."""
