"""Security cases of the class ssrf: the guard's decision, redirects, proxies, operators."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from tests.cases.judges import sound
from tests.cases.requests_cases import definition, endpoint_tool
from tests.cases.stage import Setting, Stage, read_json
from tests.cases.upstream import Answer, Upstream
from tests.cases.verdicts import Json, UnknownShapeError, only

_EXPECT = "decision never_connect connect connect_one_of never_send reason connects_at_most note"


def ssrf_case(stage: Stage, given: Json, expect: Json) -> list[str]:
    """A URL, an operator's policy and what names resolve to in; allow or refuse out."""
    given = only(given, "url policy dns dns_sequence responses env request note", "input")
    expect = only(expect, _EXPECT, "expect")
    faults = _checked(stage, given, expect)
    if "responses" in given:
        faults += _followed(stage, given["responses"], given.get("request", {}))
    if "env" in given:
        faults += _proxied(stage, given["env"])
    return faults


def _checked(stage: Stage, given: Mapping[str, Json], expect: Mapping[str, Json]) -> list[str]:
    want = expect.get("decision")
    if want not in ("allow", "refuse"):
        raise UnknownShapeError(f"decision {want!r}")
    if "responses" in given and want == "allow":
        return ["expected the redirect to be followed"]
    argv = ["egress", "check", "--format", "json"]
    names = _names(given) or {"nothing.invalid": ["192.0.2.1"]}
    for host, addresses in names.items():
        argv += ["--resolve", f"{host}={','.join(addresses)}"]
    for entry in _allowed(given.get("policy", "default")):
        argv += ["--allow", entry]
    env = {"REMIT_EGRESS_ALLOW": "", **given.get("env", {})}
    ran = stage.run(*argv, "--", given["url"], env=env, quick=True)
    printed = read_json(ran.stdout)
    seen = f"seen exit {ran.exit_code}, {ran.stdout[:300]!r} {ran.stderr[:200]!r}"
    if not isinstance(printed, dict) or "Traceback" in ran.stderr:
        return [f"expected a decision, {seen}"]
    refused = printed.get("decision") == "refuse"
    if want == "allow" and refused and given["url"].lower().startswith("http:"):
        secure = stage.run(*argv, "--", f"https{given['url'][4:]}", env=env, quick=True)
        if secure.exit_code == 0:
            return ["expected allow over http, seen allow over https alone"]
    # What a redirect leads to is another question; here it is the first address.
    faults = [] if "responses" in given else _judge_decision(want, printed, ran.exit_code, seen)
    return faults + _judge_addresses(expect, printed, seen)


def _judge_decision(want: str, printed: Mapping[str, Json], code: int, seen: str) -> list[str]:
    faults: list[str] = []
    if printed.get("decision") != want or code != (0 if want == "allow" else 1):
        faults.append(f"expected {want}, {seen}")
    if want == "refuse" and not printed.get("reason"):
        faults.append(f"expected a reason, {seen}")
    return faults


def _judge_addresses(
    expect: Mapping[str, Json], printed: Mapping[str, Json], seen: str
) -> list[str]:
    faults: list[str] = []
    addresses = set(printed.get("addresses", []))
    connect = expect.get("connect", expect.get("connect_one_of"))
    if connect is not None:
        allowed = [connect] if isinstance(connect, str) else connect
        if not addresses or not addresses <= set(allowed):
            faults.append(f"expected only {allowed}, {seen}")
    hit = addresses & set(expect.get("never_connect", []))
    if printed.get("decision") == "allow" and hit:
        faults.append(f"would connect to {sorted(hit)}, {seen}")
    return faults


def _names(given: Mapping[str, Json]) -> dict[str, list[str]]:
    """The first answer for each name: a name is resolved once."""
    found: dict[str, list[str]] = {}
    for host, answer in {**given.get("dns", {}), **given.get("dns_sequence", {})}.items():
        first: Json = answer
        if isinstance(answer, list) and answer and isinstance(answer[0], list):
            first = answer[0]
        elif isinstance(answer, dict):
            first = next(iter(answer.values()))
        found[host] = [first] if isinstance(first, str) else list(first)
    return found


def _allowed(policy: Json) -> Sequence[str]:
    if policy in ("default", None, {}):
        return ()
    policy = only(policy, "allow_hosts allow_cidrs allow_addresses allow allow_http", "policy")
    return [
        entry
        for key in ("allow_hosts", "allow_cidrs", "allow_addresses", "allow")
        for entry in policy.get(key, [])
    ]


def _followed(
    stage: Stage, responses: Mapping[str, Json], request: Mapping[str, Json]
) -> list[str]:
    """The app answers so; whatever it points to is not asked, as written and on a host of ours."""
    faults: list[str] = []
    for url, response in responses.items():
        record = only(response, "status headers body", "a response")
        headers = {str(k): str(v) for k, v in record.get("headers", {}).items()}
        location = next((v for k, v in headers.items() if k.lower() == "location"), "")
        with Upstream(host="127.0.0.2") as other:
            places = [location]
            if "//" in location:
                tail = location.split("//", 1)[1].partition("/")[2]
                places.append(f"{other.origin}/{tail}")
                places.append(f"//127.0.0.2:{other.port}/{tail}")
            for place in places:
                faults += _one_answer(stage, url, record["status"], place, request)
            if other.received:
                sent = [r.text()[:200] for r in other.received]
                faults.append(f"the redirect was followed: {sent}")
    return faults


def _one_answer(
    stage: Stage, url: str, status: int, location: str, request: Mapping[str, Json]
) -> list[str]:
    only(request, "method headers body", "request")
    method = request.get("method", "GET")
    path = urlsplit(url).path or "/"
    tool = endpoint_tool({"method": method, "path": path}, {"type": "object", "properties": {}})
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(url))
    setting = Setting(
        definition=definition(tool, origin, {"type": "bearer"}),
        tool="t",
        token="canary-token",
        answers=[Answer(status=status, headers=(("location", location),)), Answer(body=b"{}")],
    )
    one = stage.call(setting)
    faults = sound(one, ["canary-token"])
    if one.ok or one.code != "upstream_error" or len(one.requests) != 1:
        faults.append(f"expected one request and upstream_error, seen {one.brief()}")
    return faults


def _proxied(stage: Stage, env: Mapping[str, str]) -> list[str]:
    """With proxy variables set, a call goes straight to its app."""
    with Upstream(host="127.0.0.2") as proxy:
        ours = dict.fromkeys((*env, "ALL_PROXY"), proxy.origin)
        tool = endpoint_tool({"method": "GET", "path": "/x"}, {"type": "object", "properties": {}})
        one = stage.call(Setting(definition=definition(tool), tool="t", process_env=ours))
        if proxy.received:
            return [f"the proxy was asked: {json.dumps([r.target for r in proxy.received])}"]
    return [] if one.ok else [f"expected a call past the proxy, seen {one.brief()}"]
