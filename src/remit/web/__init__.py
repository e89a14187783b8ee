"""The HTTP API (contract section 10): raw ASGI for calls in front, Starlette for the rest.

``app.make_app(services)`` is the way in. What is described in ``routes`` is what is served, and
the OpenAPI document is made from the same values and the same types that the handlers decode.
"""
