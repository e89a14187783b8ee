"""For tests of what is built on Remit: a scripted model, a scripted app, a clock, a whole Remit.

Each is real where a user would meet the real thing: HTTP on loopback, the real store, the real
engine. Only what a model and an app say is written down beforehand (docs/guide/testing.md).
"""

from remit.testing.clock import Clock
from remit.testing.completions import ScriptedModel
from remit.testing.script import BadScript, Call, ModelRequest, Turn
from remit.testing.upstream import AppAnswer, ScriptedUpstream

__all__ = [
    "AppAnswer",
    "BadScript",
    "Call",
    "Clock",
    "ModelRequest",
    "ScriptedModel",
    "ScriptedUpstream",
    "Turn",
]
