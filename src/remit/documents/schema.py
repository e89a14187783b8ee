"""JSON Schema 2020-12, compiled: a validator that never fetches, backtracks or crashes.

``check_schema`` says beforehand whether a schema may be compiled; it builds no validator.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, final

import jsonschema_rs

from remit.documents.problems import DocumentError, Problem
from remit.documents.schema_check import PATTERN_OPTIONS, check_schema, refuse_reference
from remit.documents.schema_cost import Cost
from remit.documents.schema_expansion import expansion
from remit.documents.schema_graph import REFERENCES, SchemaGraph
from remit.documents.schema_secrets import Secrets
from remit.documents.schema_words import Fault, Words, faults_of
from remit.documents.shapes import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["ENFORCED_FORMATS", "Fault", "Schema", "check_schema", "compile_schema"]

#: The formats that are enforced (contract section 2); all others are annotations.
ENFORCED_FORMATS = frozenset({"uri", "email", "uuid", "date", "date-time"})
#: Faults that are told of one value.
MAX_FAULTS = 20
# Applications of subschemas to values: with every fault told, not the first alone; with that one
# told, for each part of a value of a recursive schema; and at all, for a recursive schema.
_MAX_COST_TOLD = 20_000
_MAX_COST_A_PART = 20
_MAX_COST = 1_000_000


def _anything(_value: str) -> bool:
    return True


# The formats that the validator would enforce beyond those; it leaves unknown ones alone.
_ANNOTATIONS = (
    "time",
    "duration",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri-reference",
    "iri",
    "iri-reference",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "regex",
)


@final
class Schema:
    """A compiled schema; make it with ``compile_schema``."""

    __slots__ = ("_is_valid", "_recursive", "_root", "_validator")

    def __init__(
        self,
        root: Mapping[str, object],
        validator: jsonschema_rs.Validator,
        recursive: SchemaGraph | None,
    ) -> None:
        self._root = root
        self._validator = validator
        # Only a schema that applies itself needs its graph before a value is known to be wrong.
        self._recursive = recursive
        self._is_valid = validator.is_valid

    def validate(self, instance: object) -> tuple[Fault, ...]:
        """What ``instance`` breaks, at most ``MAX_FAULTS`` of it; () where it is valid.

        ``instance`` is a JSON value as ``parse_json`` gives it: no NaN, at most 64 deep, integers
        of at most 4,300 digits; those are compared exactly.
        """
        try:
            if self._recursive is not None:
                return self._bounded(self._recursive, instance)
            return () if self._is_valid(instance) else self._faults(instance)
        except (ValueError, TypeError, OverflowError, RecursionError):
            return (Fault(pointer="", rule="json", message="holds something that is not JSON"),)

    def admits(self, instance: object) -> bool | None:
        """Whether ``instance`` is valid, and no more; None where that cannot be told.

        It cannot where ``validate`` gives the rule ``json`` or nests too deep to be judged.
        """
        try:
            if self._recursive is not None:
                cost = Cost(self._recursive, cap=_MAX_COST).of(instance)
                return None if cost >= _MAX_COST else self._is_valid(instance)
            return self._is_valid(instance)
        except (ValueError, TypeError, OverflowError, RecursionError):
            return None

    def _bounded(self, graph: SchemaGraph, instance: object) -> tuple[Fault, ...]:
        """Validate with a schema that applies itself, unless the work of it grows too large."""
        cost = Cost(graph, cap=_MAX_COST).of(instance)
        if cost >= _MAX_COST:
            message = "nests too deep for this schema, whose parts refer to themselves"
            return (Fault(pointer="", rule="depth", message=message),)
        if self._is_valid(instance):
            return ()
        if cost > max(_MAX_COST_TOLD, _MAX_COST_A_PART * _parts(instance, _MAX_COST_TOLD)):
            message = "does not fit its schema, and nests too deep to say where"
            return (Fault(pointer="", rule="depth", message=message),)
        return self._faults(instance)

    def _faults(self, instance: object) -> tuple[Fault, ...]:
        graph = self._recursive or SchemaGraph(self._root)
        words = Words(
            instance=instance,
            is_secret=Secrets.of(graph).holds,
            declared=self._declared,
        )
        faults = (
            fault for error in self._errors(graph, instance) for fault in faults_of(error, words)
        )
        return tuple(islice(faults, MAX_FAULTS))

    def _errors(
        self, graph: SchemaGraph, instance: object
    ) -> Iterator[jsonschema_rs.ValidationError]:
        """The errors, or the first alone: the validator makes all of them before it gives one."""
        cap = _MAX_COST_TOLD + 1
        if Cost(graph, cap=cap).of(instance) < cap:
            yield from islice(self._validator.iter_errors(instance), MAX_FAULTS)
            return
        try:
            self._validator.validate(instance)
        except jsonschema_rs.ValidationError as error:
            yield error

    def _declared(self, path: Sequence[str | int]) -> tuple[str, ...]:
        found: object = self._root
        for part in path:
            if is_object(found):
                found = found.get(str(part))
            elif is_array(found) and isinstance(part, int):
                found = found[part]
        properties = found.get("properties") if is_object(found) else None
        return tuple(properties) if is_object(properties) else ()


def compile_schema(schema: Mapping[str, object]) -> Schema:
    """Build the validator of a schema that ``check_schema`` found nothing wrong with.

    Raises:
        DocumentError: the schema cannot be compiled after all.
    """
    # The root's own name and dialect say nothing here, and must not send a reference elsewhere.
    root = {key: value for key, value in schema.items() if key not in ("$id", "$schema")}
    try:
        validator = jsonschema_rs.Draft202012Validator(
            root,
            formats=dict.fromkeys(_ANNOTATIONS, _anything),
            validate_formats=True,
            retriever=refuse_reference,
            pattern_options=PATTERN_OPTIONS,
            email_options=jsonschema_rs.EmailOptions(allow_display_text=False),
        )
        recursive = _graph_if_recursive(root)
    except (ValueError, TypeError, jsonschema_rs.ReferencingError) as error:
        message = str(error).partition("\n")[0]
        problem = Problem(
            pointer="", message=f"the schema cannot be compiled: {message}", mend="mend the schema"
        )
        raise DocumentError([problem]) from None
    return Schema(root, validator, recursive)


def _graph_if_recursive(root: Mapping[str, object]) -> SchemaGraph | None:
    text = repr(root)
    if not any(keyword in text for keyword in REFERENCES):
        return None
    graph = SchemaGraph(root)
    return graph if expansion(graph, cap=1).is_recursive else None


def _parts(value: object, limit: int) -> int:
    """The number of values in ``value``, counted up to ``limit``."""
    waiting = [value]
    count = 0
    while waiting and count < limit:
        item = waiting.pop()
        count += 1
        if is_object(item):
            waiting.extend(item.values())
        elif is_array(item):
            waiting.extend(item)
    return count
