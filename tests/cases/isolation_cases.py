"""Security cases of the class iso: another tenant's ids, keys, limits, lines, origins."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tests.cases.approval_cases import judge_lines
from tests.cases.served import Served, said, serve
from tests.cases.stream_cases import forged_case
from tests.cases.verdicts import Json, UnknownShapeError, only

_GIVEN = (
    "resource id_of key_of methods stored_form requests_per_second key tool_argument cors "
    "event_data note"
)
_EXPECT = (
    "status side_effects usable_keys status_after_limit header other_tenants_unaffected "
    "log_records Access-Control-Allow-Origin events_parsed_by_client note"
)
_NONE = "none_of_ours"
# What each resource is called, and where it stands; {x} is an id of the other tenant.
_SESSION = "/v1/sessions/{session}"
_PLACES: Sequence[tuple[str, tuple[str, ...]]] = (
    (
        r"session|thread|message|stream|event|conversation",
        (
            *(f"{_SESSION}{part}" for part in ("", "/messages", "/events", "/cancel", "/close")),
            f"{_SESSION}/tokens",
            f"{_SESSION}/human-input/{{input}}",
            "/v1/sessions?user=ana",
        ),
    ),
    (
        r"\bclient|widget",
        (
            f"{_SESSION}/clients/tab-1",
            f"{_SESSION}/calls/{{call}}/claim",
            f"{_SESSION}/calls/{{call}}/result",
        ),
    ),
    (r"credential|connection", ("/v1/connections/acme/{user}", "/v1/connections?user=ana")),
    (r"audit", ("/v1/audit", "/v1/audit/{audit}")),
    (r"api key|\bkeys?\b", ("/v1/keys/{key}", "/v1/keys")),
    (r"token", ("/v1/tokens/{token}",)),
    (r"catalog", ("/v1/apps/acme/catalog", "/v1/apps/acme/catalog/accept")),
    (r"tools?\b", ("/v1/apps/acme/tools", "/v1/tools/acme/get_order/call")),
    (r"version|definition", ("/v1/apps/acme/versions/1", "/v1/apps/acme/versions")),
    (r"\bapps?\b", ("/v1/apps/acme", "/v1/apps/acme/suspend", "/v1/apps")),
    (r"grant|consent", ("/v1/grants/{grant}", "/v1/grants?user=ana")),
    (r"input|approval", ("/v1/inputs/{input}", "/v1/inputs/{input}/answer", "/v1/inputs")),
    (r"\bcalls?\b|record", ("/v1/calls/{call}", "/v1/calls")),
    (r"env", ("/v1/apps/acme/env/default/production",)),
    (r"policy", ("/v1/policy",)),
)
_BODIES: Mapping[str, Json] = {
    "/call": {"user": "ana", "args": {"id": "7"}},
    "/answer": {"decision": "approve"},
    "/accept": {"snapshot": "0" * 64},
    "/suspend": {"reason": "x"},
    "/env/": {"A": "b"},
    "/connections/": {"type": "bearer", "token": "theirs"},
    "/messages": {"text": "Hello"},
    "/human-input/": {"decision": "approve"},
    "/clients/": {"tools": []},
    "/claim": {"clientId": "tab-1"},
    "/result": {"claim": "c", "result": 1},
    "/sessions/": {},
}
_LATER: Sequence[tuple[str, str]] = (
    (r"file|artifact|attachment", "no file is kept"),
    (r"webhook|oauth", "needs OAuth"),
    (r"console|theme|skin", "needs the console"),
)


def later(given: Json) -> str | None:
    """Why the case cannot be judged yet."""
    words = str(given.get("resource", "")).lower()
    return next((reason for pattern, reason in _LATER if re.search(pattern, words)), None)


def isolation_case(given: Json, expect: Json) -> list[str]:
    """A resource, a key, a limit or a line in; what another tenant gets of it out."""
    given = only(given, _GIVEN, "input")
    expect = only(expect, _EXPECT, "expect")
    if "resource" in given:
        return _foreign(given, expect)
    if "stored_form" in given:
        return _dumped(expect)
    if "requests_per_second" in given:
        return _flooded(given, expect)
    if "tool_argument" in given:
        return _logged(given, expect)
    if "cors" in given:
        return _origin(given, expect)
    if "event_data" in given:
        return forged_case(str(given["event_data"]), expect)
    raise UnknownShapeError(f"input {sorted(given)}")


def _foreign(given: Mapping[str, Json], expect: Mapping[str, Json]) -> list[str]:
    words = str(given["resource"]).lower()
    places = next((paths for pattern, paths in _PLACES if re.search(pattern, words)), None)
    if places is None or given["key_of"] == given["id_of"]:
        raise UnknownShapeError(f"resource {given['resource']!r}")

    async def act(served: Served) -> list[str]:
        ids = await _ids(served)
        before = await _state(served)
        faults: list[str] = []
        for place in places:
            for method in [*given["methods"], "PUT"]:
                faults += await _one(served, method, place, ids, expect["status"])
        await served.settled()
        # What the other tenant did in its own house is its own; ours is as it was.
        after = await _state(served)
        changed = [name for name in before if before[name] != after[name]]
        if len(changed) != expect["side_effects"]:
            faults.append(f"expected {expect['side_effects']} changes, seen {changed}")
        return faults + ([f"sent {served.sent}"] if served.writes else [])

    return serve(act)


async def _one(
    served: Served, method: str, place: str, ids: Mapping[str, str], status: int
) -> list[str]:
    """Nothing of ours; and by an id, the answer is that for an id that never was."""
    path = place.format(**ids)
    body = next((body for part, body in _BODIES.items() if part in path), None)
    if method in ("GET", "DELETE"):
        body = None
    got = await served.api.send(method, path, body, who="other")
    said_of = f"{method} {path}: {said(got)}"
    ours = [*ids.values(), "acme@", "ana@"]
    if any(one in _no_id(got.text).replace(path, "") for one in ours if one not in path):
        return [f"tells of another tenant: {said_of}"]
    if "{" not in place and "acme" not in place:
        # A list or a document of the caller's own tenant: it may be read, and is not ours.
        return []
    none = path.replace("/acme", f"/{_NONE}")
    for one in ids.values():
        none = none.replace(one, _NONE)
    blank = await served.api.send(method, none, body, who="other")
    if "?" in place:
        empty = got.status_code == 200 and got.json().get("items") == []
        return [] if empty or got.status_code in (404, 405) else [said_of]
    if got.status_code != blank.status_code or _plain(got.text, path) != _plain(blank.text, none):
        return [f"not as for what never was, {said(blank)}: {said_of}"]
    # A method that no such path has is 405 whoever asks, for whatever id.
    return [] if got.status_code in (status, 405) else [f"expected {status}, {said_of}"]


def _no_id(text: str) -> str:
    """An answer without the request's own id, which may spell anything, "ana" too."""
    return re.sub(r"req_\w+", "", text)


def _plain(text: str, path: str) -> str:
    """An answer without what was asked for and without the request's own id."""
    text = _no_id(text)
    # The longest first: an id may hold "v1".
    for word in sorted(filter(None, re.split(r"[/?=]", path)), key=len, reverse=True):
        text = re.sub(rf"(?<=[\"' ])acme(?=[\"' .])|{re.escape(word)}", "·", text)
    return text


async def _ids(served: Served) -> dict[str, str]:
    """One of everything in the tenant ``acme``."""
    api = served.api
    card = await served.waiting()
    token = await api.post("/v1/tokens", {"user": "ana", "apps": ["acme"], "ttlS": 60})
    items = {
        name: (await api.get(f"/v1/{name}")).json()["items"][0]["id"]
        for name in ("grants", "connections", "keys", "audit")
    }
    return {
        "user": "ana",
        "call": card["callId"],
        "input": card["id"],
        "token": token.json()["id"],
        "grant": items["grants"],
        "connection": items["connections"],
        "key": items["keys"],
        "audit": str(items["audit"]),
        "session": await api.session(),
    }


async def _state(served: Served) -> dict[str, list[Json]]:
    """All rows of the tenant ``acme``, but for when its keys were used."""
    names = [n for (n,) in served.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found: dict[str, list[Json]] = {}
    for name in names:
        columns = [row[1] for row in served.rows(f'PRAGMA table_info("{name}")')]
        kept = ", ".join(f'"{c}"' for c in columns if not c.startswith("last_used"))
        if "workspace" in columns:
            sql = f"SELECT {kept} FROM \"{name}\" WHERE workspace = 'acme'"  # noqa: S608 -- our own names
            found[name] = sorted(served.rows(sql), key=repr)
    return found


def _dumped(expect: Mapping[str, Json]) -> list[str]:
    """Every word of a dump, tried as a key."""

    async def act(served: Served) -> list[str]:
        await served.waiting()
        dump = served.dump()
        faults = [f"the key of {who} is in it" for who, k in served.api.keys.items() if k in dump]
        words = sorted(set(re.findall(r"[A-Za-z0-9_.-]{16,200}", dump)))
        usable = 0
        for word in words:
            for key in (word, f"rk_{word}", f"remit_{word}"):
                headers = {"authorization": f"Bearer {key}"}
                got = await served.api.get("/v1/calls", who=None, headers=headers)
                usable += got.status_code != 401
        if usable != expect["usable_keys"] or len(words) < 50:
            faults.append(f"{usable} of {len(words)} words of the dump are keys")
        return faults

    return serve(act)


def _flooded(given: Mapping[str, Json], expect: Mapping[str, Json]) -> list[str]:
    """All of a second's requests at once, under a bound of a tenth of them."""
    most = max(1, given["requests_per_second"] // 10)

    async def act(served: Served) -> list[str]:
        faults: list[str] = []
        statuses: list[int] = []
        for number in range(given["requests_per_second"]):
            path = "/v1/keys/none" if number % 2 else "/v1/grants/none"
            got = await served.api.send("DELETE", path, who="operator")
            statuses.append(got.status_code)
            if got.status_code == expect["status_after_limit"]:
                after = got.headers.get(expect["header"])
                if after is None or not after.isdigit():
                    faults.append(f"{expect['header']} is {after!r}")
                    break
        limited = statuses.count(expect["status_after_limit"])
        if limited != len(statuses) - most or expect["status_after_limit"] in statuses[:most]:
            faults.append(f"{limited} of {len(statuses)} were limited, under a bound of {most}")
        others = [await served.api.get("/v1/apps", who=who) for who in ("other", "backend")]
        unaffected = all(got.status_code == 200 for got in others)
        if unaffected is not expect.get("other_tenants_unaffected", unaffected):
            faults.append(f"others: {[said(got) for got in others]}")
        return faults

    return serve(act, max_per_s=most)


def _logged(given: Mapping[str, Json], expect: Mapping[str, Json]) -> list[str]:
    async def act(served: Served) -> list[str]:
        text = str(given["tool_argument"])
        await served.api.call("get_order", {"id": text})
        await served.settled()
        return await judge_lines(served, text, expect["log_records"])

    return serve(act)


def _origin(given: Mapping[str, Json], expect: Mapping[str, Json]) -> list[str]:
    found = re.search(r"Origin: (\S+)", str(given["cors"]))
    if found is None or expect != {"Access-Control-Allow-Origin": "absent"}:
        raise UnknownShapeError(f"cors {given['cors']!r}")

    async def act(served: Served) -> list[str]:
        faults: list[str] = []
        headers = {"origin": found[1], "cookie": "remit=1"}
        asks = {**headers, "access-control-request-method": "POST"}
        for method in ("GET", "POST", "OPTIONS"):
            for path in ("/v1/apps", "/v1/tools/acme/get_order/call", "/v1/inputs", "/nowhere"):
                sent = asks if method == "OPTIONS" else headers
                for who in ("operator", None):
                    got = await served.api.send(method, path, who=who, headers=sent)
                    seen = [n for n in got.headers if n.startswith("access-control-allow")]
                    if any(n in seen for n in ("access-control-allow-origin",
                                               "access-control-allow-credentials")):  # fmt: skip
                        faults.append(f"{method} {path}: {seen}")
        return faults + ([f"sent {served.sent}"] if served.sent else [])

    return serve(act)
