"""For authors of apps: what an app needs to work with Remit.

It stands apart from the server and imports nothing of it: the standard library, joserfc and
pydantic are all that it needs.
"""
