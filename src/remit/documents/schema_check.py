"""Whether a schema is sound and bounded, said without building a validator (contract section 2).

A catalog of 10,000 tools checks each schema when it loads and compiles it at the tool's first
call. Most schemas hold no reference and no pattern: one pass to text and one look at the
metaschema answer for those.
"""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, NoReturn

import jsonschema_rs

from remit.documents.canonical import compact_json
from remit.documents.pattern_cost import PatternBudget
from remit.documents.problems import Problem, escaped, quoted, shortened
from remit.documents.schema_expansion import expansion
from remit.documents.schema_graph import SchemaGraph, Unresolved
from remit.documents.schema_words import Fault, Words, faults_of
from remit.documents.shapes import is_object
from remit.documents.text import has_surrogate, nests_deeper

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SCHEMA_BYTES = 256 * 1024
MAX_SCHEMA_DEPTH = 64
MAX_PROPERTIES = 5_000
MAX_EXPANSION = 10_000
#: Different patterns of one schema; what they cost is bounded by ``PatternBudget``.
MAX_PATTERNS = 100
_MAX_PROBLEMS = 50
DIALECT = "https://json-schema.org/draft/2020-12/schema"

#: The linear engine, and the most memory that one pattern may take of it.
PATTERN_OPTIONS = jsonschema_rs.RegexOptions(size_limit=1 << 20)
_METASCHEMA = jsonschema_rs.Draft202012Validator({"$ref": DIALECT}, offline=True)
_TYPE_NAMES = ("string", "number", "integer", "boolean", "object", "array", "null")
_LOOK_AROUND = ("(?=", "(?!", "(?<=", "(?<!")
_MENDS = MappingProxyType(
    {
        "items": "write one schema; a list of schemas is written prefixItems",
        "required": 'write a list of names, beside "properties"',
        "exclusiveMinimum": "write the bound itself, a number",
        "exclusiveMaximum": "write the bound itself, a number",
        "multipleOf": "write a number above 0",
        "enum": "write a list of values",
    }
)


def refuse_reference(uri: str) -> NoReturn:
    """The retriever that retrieves nothing: a remote reference would be a request of ours.

    Raises:
        ValueError: always.
    """
    msg = f"{shortened(uri)} is not in this schema"
    raise ValueError(msg)


def check_schema(
    schema: object, *, at: str = "", budget: PatternBudget | None = None
) -> tuple[Problem, ...]:
    """Everything that keeps a schema from being used, each with its pointer; () where nothing.

    Args:
        schema: the schema, a JSON value.
        at: pointer of the schema in its document; the problems' pointers begin with it.
        budget: what the schemas of one document share for their patterns; None for a schema alone.
    """
    try:
        text = compact_json(schema)
        problems = _bounds(text)
        if not problems and not _is_plain(schema, text):
            problems = _mistakes(schema, text, budget or PatternBudget())
    except (ValueError, TypeError):
        problems = [_not_json()]
    except RecursionError:
        problems = [_too_deep()]
    return tuple(
        Problem(pointer=at + problem.pointer, message=problem.message, mend=problem.mend)
        for problem in problems[:_MAX_PROBLEMS]
    )


def _is_plain(schema: object, text: str) -> bool:
    """Whether a schema is sound and holds nothing that would have to be looked at closely."""
    return (
        '"$' not in text
        and "attern" not in text
        and text.count(":") <= MAX_PROPERTIES
        and _METASCHEMA.is_valid(schema)
    )


def _not_json() -> Problem:
    return Problem(
        pointer="",
        message="the schema holds something that is not JSON",
        mend="keep to JSON values: string keys, finite numbers, whole characters",
    )


def _too_deep() -> Problem:
    return Problem(
        pointer="",
        message=f"the schema nests more than {MAX_SCHEMA_DEPTH} deep",
        mend="make it flatter, or move parts of it under $defs",
    )


def _bounds(text: str) -> list[Problem]:
    problems: list[Problem] = []
    size = len(text) if text.isascii() else len(text.encode("utf-8"))
    if size > MAX_SCHEMA_BYTES:
        problems.append(
            Problem(
                pointer="",
                message=f"the schema has {size:,} bytes; at most {MAX_SCHEMA_BYTES:,} are allowed",
                mend="make it smaller",
            )
        )
    if nests_deeper(text, MAX_SCHEMA_DEPTH):
        problems.append(_too_deep())
    return problems


def _mistakes(schema: object, text: str, budget: PatternBudget) -> list[Problem]:
    if has_surrogate(text):
        return [_not_json()]
    problems = [_of_metaschema(fault) for fault in _metaschema_faults(schema)]
    if is_object(schema):
        graph = SchemaGraph(schema)
        problems += [_of_reference(reference) for reference in graph.unresolved]
        problems += _names(graph)
        problems += _counts(graph)
        problems += _patterns(graph, budget)
    return problems


# --- the metaschema ------------------------------------------------------------------------


def _metaschema_faults(schema: object) -> list[Fault]:
    if _METASCHEMA.is_valid(schema):
        return []
    words = Words(instance=schema, is_secret=lambda _: False, declared=lambda _: ())
    found: dict[tuple[str, str], Fault] = {}
    for error in _METASCHEMA.iter_errors(schema):
        for fault in faults_of(error, words):
            found.setdefault((fault.pointer, fault.rule), fault)
    return list(found.values())


def _of_metaschema(fault: Fault) -> Problem:
    keyword = fault.pointer.rpartition("/")[2]
    if keyword == "type" and fault.rule == "anyOf":
        return Problem(
            pointer=fault.pointer,
            message='"type" names no type of JSON Schema',
            mend=f"write one of {', '.join(_TYPE_NAMES)}, or a list of them",
        )
    subject = f'"{keyword}"' if keyword else "a schema"
    return Problem(
        pointer=fault.pointer,
        message=f"{subject} {fault.message}",
        mend=_MENDS.get(keyword, "keep to JSON Schema 2020-12"),
    )


# --- references and names -----------------------------------------------------------------


def _of_reference(reference: Unresolved) -> Problem:
    shown = quoted(reference.text)
    if reference.is_remote:
        message = f"{reference.keyword} {shown} leaves this schema, and nothing is fetched"
        mend = 'copy what it names under "$defs" and refer to "#/$defs/…"'
    else:
        message = f"{reference.keyword} {shown} names nothing in this schema"
        mend = 'write a pointer from the root of "parameters", as in "#/$defs/…"'
    return Problem(
        pointer=f"{reference.at}/{escaped(reference.keyword)}", message=message, mend=mend
    )


def _names(graph: SchemaGraph) -> Iterator[Problem]:
    """Dialects other than ours, names that move what references mean, anchors that stand twice."""
    anchors: set[str] = set()
    for at, node in graph.nodes.items():
        dialect = node.get("$schema")
        if isinstance(dialect, str) and dialect.removesuffix("#") != DIALECT:
            yield Problem(
                pointer=f"{at}/$schema",
                message=f"the schema is written for {quoted(dialect)}, not for 2020-12",
                mend="write it in JSON Schema 2020-12 and leave $schema out",
            )
        if at and isinstance(node.get("$id"), str):
            yield Problem(
                pointer=f"{at}/$id",
                message='an inner "$id" changes what the references below it mean',
                mend='leave it out, and refer to "#/$defs/…"',
            )
        for keyword in ("$anchor", "$dynamicAnchor"):
            name = node.get(keyword)
            if not isinstance(name, str):
                continue
            if name in anchors:
                yield Problem(
                    pointer=f"{at}/{keyword}",
                    message=f"the anchor {quoted(name)} stands twice",
                    mend="keep one of the two",
                )
            anchors.add(name)


# --- counts -------------------------------------------------------------------------------


def _counts(graph: SchemaGraph) -> Iterator[Problem]:
    properties = sum(
        edge.keyword in ("properties", "patternProperties")
        for edges in graph.edges.values()
        for edge in edges
    )
    if properties > MAX_PROPERTIES:
        yield Problem(
            pointer="",
            message=f"the schema has {properties:,} properties; at most {MAX_PROPERTIES:,} are "
            "allowed",
            mend="split the tool, or take an object with free keys",
        )
    found = expansion(graph, cap=MAX_EXPANSION)
    if found.endless:
        yield Problem(
            pointer=found.endless[0],
            message="this schema refers to itself for the same value, without end: "
            + shortened(" and ".join(f"#{at}" for at in found.endless[:4])),
            mend="let the reference stand below properties or items, or leave it out",
        )
    elif found.size > MAX_EXPANSION:
        yield Problem(
            pointer="",
            message=f"the schema's references stand for more than {MAX_EXPANSION:,} subschemas",
            mend="refer less often to definitions that refer to others",
        )


# --- patterns -----------------------------------------------------------------------------


def _patterns(graph: SchemaGraph, budget: PatternBudget) -> Iterator[Problem]:
    places = list(_pattern_places(graph))
    different = {pattern for _, pattern in places}
    if len(different) > MAX_PATTERNS:
        yield Problem(
            pointer="",
            message=f"the schema has {len(different):,} different patterns; at most "
            f"{MAX_PATTERNS} are allowed",
            mend="use fewer patterns",
        )
        return
    for at, pattern in places:
        if not budget.pays_for(pattern):
            yield Problem(
                pointer=at,
                message=f"the pattern {shortened(pattern)} is too much: the patterns of one "
                "document may not take more than about a second to compile",
                mend="use fewer patterns or the same ones, and shorter repetitions of simpler "
                "classes",
            )
            return
        fault = _pattern_fault(pattern)
        if fault is not None:
            yield Problem(
                pointer=at,
                message=f"the pattern {shortened(pattern)} {fault}",
                mend="write it without, or leave it out and say in the description what is meant",
            )


def _pattern_places(graph: SchemaGraph) -> Iterator[tuple[str, str]]:
    for at, node in graph.nodes.items():
        pattern = node.get("pattern")
        if isinstance(pattern, str):
            yield f"{at}/pattern", pattern
        keyed = node.get("patternProperties")
        if is_object(keyed):
            for key in keyed:
                yield f"{at}/patternProperties/{escaped(key)}", key


@lru_cache(maxsize=4096)
def _pattern_fault(pattern: str) -> str | None:
    """Why the linear engine cannot run a pattern, or None; the same patterns come up often."""
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=PATTERN_OPTIONS)
    except ValueError:
        pass
    else:
        return None
    if any(opening in pattern for opening in _LOOK_AROUND):
        return "looks around, which needs a backtracking engine"
    if "\\k" in pattern or any(f"\\{digit}" in pattern for digit in range(1, 10)):
        return "refers back to a group, which needs a backtracking engine"
    return "is no regular expression of the linear engine, or takes too much memory there"
