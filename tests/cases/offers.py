"""Cases of the surface ``export``: the functions as each provider's model sees them."""

from __future__ import annotations

import itertools
import json
import re

from remit.catalog.nulls import drop_optional_nulls
from tests.cases.judges import judge_lint, parsed
from tests.cases.stage import ACME, Setting, Stage, definition_of, read_json
from tests.cases.verdicts import Json, UnknownShapeError, only

# Where each provider has the schema.
_SCHEMAS = ("parameters", "parametersJsonSchema", "input_schema", "inputSchema")
FORMATS = ("openai", "anthropic", "gemini", "mcp")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_EXPECT_KEYS = "export lint oneOf also never thenCall functions"


def judge(stage: Stage, given: Json, expect: Json) -> tuple[list[str], list[str]]:
    """The faults, and the conditions in prose."""
    given = only(given, "surface app tools tool formats pins note thenCall", "input")
    expect = only(expect, _EXPECT_KEYS, "expect")
    tools = [*given.get("tools", []), *([given["tool"]] if "tool" in given else [])]
    prose = [f"also {expect['also']}"] if "also" in expect else []
    prose += [f"never {p}" for p in expect.get("never", [])]
    options = expect.get("oneOf", [expect])
    told = [
        _judge(stage, given, tools, only(option, _EXPECT_KEYS, "oneOf"), prose)
        for option in options
    ]
    if all(told):
        return [fault for faults in told for fault in faults], prose
    return [], prose


def _judge(
    stage: Stage, given: Json, tools: list[Json], expect: dict[str, Json], prose: list[str]
) -> list[str]:
    app = given.get("app") or {"name": "Acme", "baseUrl": ACME}
    document, token = definition_of(app, tools)
    faults: list[str] = []
    if "lint" in expect:
        _, findings = stage.lint(document)
        return judge_lint(expect["lint"], findings, [t["name"] for t in tools])
    pins = given.get("pins", {})
    by_format: dict[str, list[dict[str, Json]]] = {}
    for provider in given.get("formats", FORMATS):
        if provider not in FORMATS:
            raise UnknownShapeError(f"format {provider!r}")
        functions, fault = exported(stage, document, provider, pins)
        if fault:
            faults.append(fault)
            continue
        by_format[provider] = functions
        faults += [f"{provider}: {f}" for f in judge_functions(functions, tools, provider, pins)]
    faults += _same_in_every_order(stage, document, by_format, pins)
    faults += _named_alike(by_format)
    if isinstance(expect.get("export"), str):
        prose.append(f"export {expect['export']} (its general rules were judged)")
    if "thenCall" in expect:
        faults += _nulls_undone(stage, document, token, by_format.get("openai", []))
    return faults


def exported(
    stage: Stage, document: Json, provider: str, pins: Json
) -> tuple[list[dict[str, Json]], str | None]:
    """Name, parameters and strictness of each function of an export, or why there is none."""
    file = stage.file(document, "exported.json")
    argv = ["export", str(file), "--for", provider]
    for name, value in pins.items():
        argv += ["--pin", f"{name}={json.dumps(value)}"]
    ran = stage.run(*argv)
    printed = read_json(ran.stdout)
    if ran.exit_code != 0 or printed is None:
        return [], f"{provider}: no export: exit {ran.exit_code}, {ran.stderr[:300]!r}"
    return [_function(entry) for entry in _entries(printed, provider)], None


def _entries(printed: Json, provider: str) -> list[Json]:
    if provider == "mcp":
        return printed["tools"]
    if provider == "gemini":
        return [d for entry in printed for d in entry["functionDeclarations"]]
    return printed


def _function(entry: Json) -> dict[str, Json]:
    inner = entry.get("function", entry)
    parameters = next(
        (inner[k] for k in _SCHEMAS if k in inner),
        None,
    )  # fmt: skip
    return {
        "name": inner["name"],
        "description": inner.get("description", ""),
        "parameters": parameters,
        "strict": inner.get("strict", entry.get("strict", False)),
    }


def judge_functions(
    functions: list[dict[str, Json]], tools: list[Json], provider: str, pins: Json
) -> list[str]:
    """What holds of every export."""
    faults: list[str] = []
    names = [f["name"] for f in functions]
    if len(set(names)) != len(names):
        faults.append(f"two functions of one name: {names}")
    faults += [
        f"no function name: {n!r} ({len(n)} characters)" for n in names if not _NAME.fullmatch(n)
    ]
    if len(functions) != len(tools):
        faults.append(f"{len(tools)} tools, {len(functions)} functions: {names}")
        return faults
    for function, tool in zip(functions, tools, strict=True):
        prefix = "" if provider == "mcp" or "target" in tool else "integration_"
        plain = f"{prefix}{tool['name']}"
        if len(plain) <= 64 and function["name"] != plain:
            faults.append(f"expected the name {plain}, seen {function['name']}")
        if not function["name"].startswith(prefix):
            faults.append(f"{function['name']} does not begin with {prefix}")
        faults += [f"{tool['name']}: {f}" for f in _judge_schema(function, tool, pins)]
    return faults


def _judge_schema(function: dict[str, Json], tool: Json, pins: Json) -> list[str]:
    parameters, original = function["parameters"], tool["parameters"]
    if not isinstance(parameters, dict) or parameters.get("type") != "object":
        return [f"parameters are {parameters!r:.100}"]
    if not isinstance(parameters.get("properties"), dict):
        return ["parameters have no properties"]
    faults: list[str] = []
    shown = set(parameters["properties"]) & set(pins)
    if shown:
        faults.append(f"pinned parameters are shown: {sorted(shown)}")
    wanted = set(original.get("properties", {})) - set(pins)
    if set(parameters["properties"]) != wanted:
        faults.append(
            f"expected the properties {sorted(wanted)}, seen {sorted(parameters['properties'])}"
        )
    if function["strict"]:
        faults += [f"strict, and {f}" for f in open_objects(parameters, required=True)]
        faults += [f"strict, but as written {f}" for f in open_objects(original, required=False)]
        for name in (
            set(original.get("properties", {})) - set(original.get("required", [])) - set(pins)
        ):
            if not nullable(parameters["properties"].get(name, {})):
                faults.append(f"strict, and the optional {name} is not nullable")
    dangling = re.findall(r'"\$ref": "#/\$defs/([^"/]+)', json.dumps(parameters))
    lost = [d for d in dangling if d not in parameters.get("$defs", {})]
    return faults + [f"dangling references {lost}"] * bool(lost)


def open_objects(schema: Json, *, required: bool, at: str = "") -> list[str]:
    """Where an object admits other keys or (``required``) leaves a property optional."""
    if isinstance(schema, list):
        return [
            f
            for i, s in enumerate(schema)
            for f in open_objects(s, required=required, at=f"{at}/{i}")
        ]
    if not isinstance(schema, dict):
        return []
    faults: list[str] = []
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if "object" in kinds or "properties" in schema:
        if schema.get("additionalProperties") is not False:
            faults.append(f"{at or '/'} is open")
        properties = set(schema.get("properties", {}))
        if required and properties != set(schema.get("required", [])):
            faults.append(f"{at or '/'} does not require every property")
    for key, value in schema.items():
        if key in ("properties", "$defs", "definitions"):
            for name, inner in value.items():
                faults += open_objects(inner, required=required, at=f"{at}/{key}/{name}")
        elif key in ("items", "anyOf", "oneOf", "allOf", "not", "additionalProperties"):
            faults += open_objects(value, required=required, at=f"{at}/{key}")
    return faults


def nullable(schema: Json) -> bool:
    """Whether a schema says that null will do."""
    kinds = schema.get("type")
    if kinds == "null" or (isinstance(kinds, list) and "null" in kinds):
        return True
    if None in schema.get("enum", ()):
        return True
    return any(nullable(one) for key in ("anyOf", "oneOf") for one in schema.get(key, ()))


def _same_in_every_order(
    stage: Stage, document: Json, by_format: dict[str, list[dict[str, Json]]], pins: Json
) -> list[str]:
    """A name stands for the same tool whatever the order of the catalog, and after a restart."""
    if len(document["tools"]) < 2:
        return []
    turned = {**document, "tools": document["tools"][::-1]}
    faults: list[str] = []
    for provider, functions in by_format.items():
        again, fault = exported(stage, turned, provider, pins)
        if fault or [f["name"] for f in again[::-1]] != [f["name"] for f in functions]:
            faults.append(f"{provider}: names change with the order of the catalog")
    return faults


def _named_alike(by_format: dict[str, list[dict[str, Json]]]) -> list[str]:
    """The three model formats name alike; MCP tools bear their own names (contract section 14)."""
    lists = {p: [f["name"] for f in fs] for p, fs in by_format.items() if p != "mcp"}
    return [
        f"{a} and {b} name differently"
        for a, b in itertools.combinations(lists, 2)
        if lists[a] != lists[b]
    ]


def _nulls_undone(
    stage: Stage, document: Json, token: str | None, functions: list[dict[str, Json]]
) -> list[str]:
    """Where strict mode made an optional property nullable, its null means "not given"."""
    faults: list[str] = []
    for function, tool in zip(functions, document["tools"], strict=False):
        original = tool["parameters"]
        optional = set(original.get("properties", {})) - set(original.get("required", []))
        forced = {n: None for n in optional if not nullable(original["properties"][n])}
        if not function["strict"] or not forced:
            continue
        sample = {n: _sample(original["properties"][n]) for n in original.get("required", [])}
        args, _ = drop_optional_nulls(original, {**sample, **forced})
        body = {
            "endpoint": {
                **tool["endpoint"],
                "bodyTemplate": {n: f"{{{{args.{n}}}}}" for n in original["properties"]},
            }
        }
        setting = Setting(
            definition={**document, "tools": [{**tool, **body}]},
            tool=tool["name"],
            args=json.dumps(args).encode(),
            token=token,
        )
        one = stage.call(setting)
        seen = parsed(one.requests[0].body) if one.requests else ...
        if seen != sample:
            faults.append(f"{tool['name']}: expected the body {sample}, seen {one.brief()}")
    return faults


def _sample(schema: Json) -> Json:
    kinds = {"string": "x", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}
    return schema["enum"][0] if "enum" in schema else kinds.get(schema.get("type", "string"), "x")
