"""The remit of an app: all it may do, as a document in plain words, its digest and lock. Pure."""
