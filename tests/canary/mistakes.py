"""People put secrets where they do not belong; each such request is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from tests.canary.apps import MADE, OWN_WORDS, USER
from tests.canary.capture import Client, Reply
from tests.canary.searching import make

#: A key that opens nothing.
WRONG_KEY = make("wrong key", "rk_backend_", "0" * 25)

_SECRET = MADE["bearer"].value
_QUOTED = quote(_SECRET, safe="")
_CUT = json.dumps({"type": "bearer", "token": _SECRET})[:-5].encode()
_CONNECTION = f"/v1/connections/app-bearer/{USER}"
_ENV = "/v1/apps/app-env/env/main/production"
_CALL = "/v1/tools/app-bearer/ok/call"

_CREDENTIALS: tuple[object, ...] = (
    {"type": "bearer", "token": _SECRET, "mood": _SECRET},
    {"type": "basic", "token": _SECRET},
    {"type": "basic", "username": _SECRET, "password": f"{_SECRET}\n"},
    {"type": "bearer", "token": {"value": _SECRET}},
    {"type": "bearer", "token": [_SECRET]},
    {"type": "bearer", "token": f"{_SECRET}\r\nX: 1"},
    {"type": "bearer", "token": f"{_SECRET}\0"},
    {"type": "bearer", "token": f"{_SECRET}ü"},
    {"type": "bearer", "token": _SECRET * 9_000},
    {"type": "bearer", "token": _SECRET, "expiresAt": _SECRET},
    {"type": "bearer", "token": _SECRET, "account": [_SECRET]},
    [_SECRET],
    _SECRET,
)
_VALUES: tuple[object, ...] = ({"A": {"x": _SECRET}}, {"A": [_SECRET]}, [_SECRET], _SECRET)
_CALLS: tuple[dict[str, Any], ...] = (
    {"args": {}, "token": _SECRET},
    {"args": _SECRET},
    {"args": [_SECRET]},
    {"args": {}, "user": f"{_SECRET} "},
)
_NO_JSON = (_CUT, _SECRET.encode(), b"\xff" + _SECRET.encode(), _CUT + b"}" + _CUT)
_PATHS = (f"/{_QUOTED}", f"/v1/{_QUOTED}", f"/v1/connections/{_QUOTED}", f"/v1/{_QUOTED}/x")
_HEADERS = ("cookie", "x-api-key", "host", "if-match", "origin", "prefer", "traceparent")


def mistake(operator: Client, keys: Mapping[str, str], *, arguments: bool) -> None:
    """Make every mistake once.

    Args:
        operator: the API, with an operator's key.
        keys: by role.
        arguments: whether there is the app that takes a secret argument.
    """
    _misplace_in_bodies(operator)
    _misplace_elsewhere(operator, keys)
    _misname(operator)
    if arguments:
        _misuse_arguments(operator)


def _misplace_in_bodies(operator: Client) -> None:
    for body in _CREDENTIALS:
        _refused(operator.ask("PUT", _CONNECTION, body, what="refusal"))
    for body in _VALUES:
        _refused(operator.ask("PUT", _ENV, body, what="refusal"))
    for body in _CALLS:
        _refused(operator.ask("POST", _CALL, {"user": USER, **body}, what="refusal"))
    for raw in _NO_JSON:
        _refused(operator.ask("PUT", _CONNECTION, raw=raw, what="refusal"))
        _refused(operator.ask("PUT", _ENV, raw=raw, what="refusal"))
        _refused(operator.ask("POST", _CALL, raw=raw, what="refusal"))


def _misplace_elsewhere(operator: Client, keys: Mapping[str, str]) -> None:
    for path in _PATHS:
        for method in ("GET", "PUT", "POST", "DELETE", "PATCH"):
            _refused(operator.ask(method, path, what="refusal"))
    for path in ("/v1/calls", "/v1/apps", "/v1/audit", "/healthz", "/metrics"):
        for name in ("token", "limit", "cursor"):
            operator.ask("GET", f"{path}?{name}={_QUOTED}", what="refusal")
    for key in (WRONG_KEY.value, f"{keys['operator'][:-1]}-", _SECRET):
        _refused(operator.ask("GET", "/v1/apps", key=key, what="refusal"))
    for header in _HEADERS:
        sent = {header: _SECRET}
        _refused(operator.ask("PUT", _CONNECTION, {}, what="refusal", headers=sent))


def _misname(operator: Client) -> None:
    """In the place of a name: whoever wrote it is told which name is wrong, and nobody else is."""
    for body in ({"type": "bearer", _SECRET: _SECRET}, {"type": _SECRET, "token": "x"}):
        _refused(operator.ask("PUT", _CONNECTION, body, what=OWN_WORDS))
    _refused(operator.ask("PUT", _ENV, {f"{_SECRET} x": "v"}, what=OWN_WORDS))
    _refused(operator.ask("POST", _CALL, {_SECRET: 1}, what=OWN_WORDS))
    _refused(operator.ask("GET", f"/v1/calls?{_QUOTED}", what=OWN_WORDS))
    media = {"content-type": _SECRET}
    _refused(operator.ask("PUT", _CONNECTION, {}, what=OWN_WORDS, headers=media))


def _misuse_arguments(operator: Client) -> None:
    """A secret argument that fits no schema, in calls that come to nothing."""
    secret = MADE["argument"].value
    for args in ({"pw": [secret]}, {"pw": {"a": secret}}, {"pw": secret, "x": [secret]}):
        path = "/v1/tools/app-argument/ok/call"
        _refused(operator.ask("POST", path, {"user": USER, "args": args}, what="refusal"))


def _refused(reply: Reply) -> None:
    assert 400 <= reply.status < 500, (reply.status, reply.body)
