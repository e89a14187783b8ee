"""How a call over the API is told: it ended or it has not (contract section 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.documents.canonical import compact_bytes
from remit.gateway.awaiting import StillRunning, Waiting
from remit.gateway.governed import Refused
from remit.gateway.journal import Ended
from remit.web.answers import Answer, said

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.gateway.governed import Called

_ON_ITS_WAY: Mapping[str, str] = {
    "polling": "The app works on it: the call is asked for again and again.",
    "sending": "The request is on its way, and the app has not answered.",
}


def told(called: Called, headers: Mapping[str, str]) -> Answer:
    """The answer of a call that has an id.

    Args:
        called: how it ended, or how far it is; no ``Refused``, which is a problem document.
        headers: of the answer.
    """
    if isinstance(called, Ended):
        return Answer(body=compact_bytes(_ended(called)), headers=headers)
    if isinstance(called, Refused):
        msg = "a refused call is a problem document"
        raise TypeError(msg)
    place = {"location": f"/v1/calls/{called.call_id}", **headers}
    return said(_open(called), 202, place)


def outcome_of(called: Called) -> str:
    """What became of it, for the metrics."""
    if isinstance(called, Waiting):
        return "waiting_human"
    return called.code if isinstance(called, Refused) else called.outcome


def _ended(ended: Ended) -> dict[str, Any]:
    document: dict[str, Any] = {"callId": ended.call_id, "outcome": ended.outcome}
    if ended.error is None:
        document["result"] = ended.result
    document["content"] = ended.content
    if ended.display is not None:
        document["display"] = ended.display
    if ended.error is not None:
        document["error"] = ended.error
    if (input_id := ended.record.get("inputId")) is not None:
        document["inputId"] = input_id
    if repaired := ended.repaired:
        document["repaired"] = repaired
    return document


def _open(called: Waiting | StillRunning) -> dict[str, Any]:
    document: dict[str, Any] = {"callId": called.call_id}
    if isinstance(called, Waiting):
        document |= {
            "outcome": "waiting_human",
            "content": f"A person has to answer input {called.input_id} first. Nothing was sent.",
            "inputId": called.input_id,
        }
    else:
        document |= {
            "outcome": called.outcome,
            "content": f"{_ON_ITS_WAY[called.outcome]} GET /v1/calls/{called.call_id} says more.",
        }
    return document
