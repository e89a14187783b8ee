"""For authors of apps: what an app needs to work with Remit.

Tools and their targets, whom a call serves, where it comes from, and what may be answered; in
``remit.kit.starlette``, ``remit.kit.flask`` and ``remit.kit.django`` a decorator that does the
rest, in ``remit.kit.testing`` calls without a server.

It stands apart from the server and imports nothing of it: the standard library, joserfc and
pydantic are all that it needs.
"""

from remit.kit.answers import Answer, AnswerError, Button, Card, DomainError, Result
from remit.kit.handling import Call
from remit.kit.headers import ToolContext, ToolContextError, is_thread, tool_context
from remit.kit.identity import Identity, Refusal, identity, verify
from remit.kit.keys import Keys, KeysUnavailable
from remit.kit.settings import App, SettingsError, component_url
from remit.kit.tools import AppTarget, ClientTarget, Tool, UrlTarget

__all__ = [
    "Answer",
    "AnswerError",
    "App",
    "AppTarget",
    "Button",
    "Call",
    "Card",
    "ClientTarget",
    "DomainError",
    "Identity",
    "Keys",
    "KeysUnavailable",
    "Refusal",
    "Result",
    "SettingsError",
    "Tool",
    "ToolContext",
    "ToolContextError",
    "UrlTarget",
    "component_url",
    "identity",
    "is_thread",
    "tool_context",
    "verify",
]
