"""What of JSON Schema each provider takes, with and without its strict mode: tables only.

Facts of November 2026. Without strict mode OpenAI and Anthropic take nearly all of JSON Schema and
refuse a few things, each with the whole request; MCP clients pass a schema on to one of the two.
Gemini's ``parametersJsonSchema`` takes a list of keywords. Strict modes take a list each.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

Provider: TypeAlias = Literal["openai", "anthropic", "gemini", "mcp"]
PROVIDERS: tuple[Provider, ...] = ("openai", "anthropic", "gemini", "mcp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One provider's subset of JSON Schema.

    Attributes:
        label: the provider, in a person's words.
        keywords: all it takes; None where it takes any but those that other fields name.
        formats: values of ``format`` it takes; None for any.
        min_items: values of ``minItems`` it takes; None for any.
        names: what the names of the root's properties must match.
        const: whether it takes ``const``; else a list of one value stands for it.
        plain_enums: whether a list of values may hold texts and numbers alone.
        lone_references: whether ``$ref`` must stand alone.
        typed_arrays: whether every array must say what its items are.
        declared_required: whether ``required`` may only name declared properties.
        optional_recursion: whether a recursive reference must stand below an optional property.
        all_required: strict mode's rule that every property is required; the optional ones
            become nullable.
    """

    label: str
    names: re.Pattern[str]
    keywords: frozenset[str] | None = None
    formats: frozenset[str] | None = None
    min_items: frozenset[int] | None = None
    const: bool = True
    plain_enums: bool = False
    lone_references: bool = False
    typed_arrays: bool = False
    declared_required: bool = False
    optional_recursion: bool = False
    all_required: bool = False


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Anthropic's own error message states the first pattern; the second is of Gemini's reference.
_COMMON_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_GEMINI_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
# Taken by all of them.
PLAIN_NAME = _GEMINI_NAME
_ANY_NAME = re.compile(r"(?s).*")

_CORE = _words(
    "$ref type title description properties required additionalProperties items anyOf enum const"
)
_COMMON_FORMATS = _words("date-time time date duration email hostname ipv4 ipv6 uuid")

OFFERED: dict[Provider, Dialect] = {
    "openai": Dialect(label="OpenAI", names=_ANY_NAME, typed_arrays=True),
    "anthropic": Dialect(label="Anthropic", names=_COMMON_NAME),
    "mcp": Dialect(label="an MCP client's model", names=_COMMON_NAME),
    "gemini": Dialect(
        label="Gemini",
        names=_GEMINI_NAME,
        keywords=(_CORE - {"const"})
        | _words("format minimum maximum minItems maxItems prefixItems"),
        formats=_words("date-time date time int32 int64 float double"),
        const=False,
        plain_enums=True,
        lone_references=True,
        declared_required=True,
        optional_recursion=True,
    ),
}

STRICT: dict[Provider, Dialect] = {
    "openai": Dialect(
        label="OpenAI's strict mode",
        names=_COMMON_NAME,
        # It takes lengths of texts too, but many hosts that speak its format do not.
        keywords=_CORE
        | _words(
            "format pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"
            " minItems maxItems"
        ),
        formats=_COMMON_FORMATS,
        lone_references=True,
        all_required=True,
    ),
    "anthropic": Dialect(
        label="Anthropic's strict mode",
        names=_COMMON_NAME,
        keywords=_CORE | _words("format minItems allOf default"),
        formats=_COMMON_FORMATS | {"uri"},
        min_items=frozenset({0, 1}),
    ),
    # These two have no strict mode of one tool: what they would hold a model to is what they read.
    "gemini": OFFERED["gemini"],
    "mcp": OFFERED["mcp"],
}

# Keywords that hold no schema and no list of values, and that nothing stands for: whoever takes
# one takes it as it is.
TAKEN_AS_THEY_ARE = _words(
    "type title description required minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"
    " minLength maxLength maxItems"
)

# Keywords whose meaning can be told to a model in words: "minLength: 3".
TOLD = _words(
    "default examples format pattern minLength maxLength minimum maximum exclusiveMinimum"
    " exclusiveMaximum multipleOf minItems maxItems uniqueItems contains minContains maxContains"
    " minProperties maxProperties propertyNames patternProperties dependentRequired"
    " dependentSchemas not if then else enum const prefixItems unevaluatedItems"
    " unevaluatedProperties contentEncoding contentMediaType contentSchema deprecated readOnly"
    " writeOnly anyOf oneOf"
)
# So many characters of a value, at most; a longer one is left out.
MAX_TOLD = 300

# OpenAI's bounds for one strict schema.
OPENAI_MAX_PROPERTIES = 5_000
OPENAI_MAX_CHARACTERS = 120_000
OPENAI_MAX_ENUM_VALUES = 1_000
OPENAI_LONG_ENUM = 250
OPENAI_MAX_LONG_ENUM_CHARACTERS = 15_000
OPENAI_MAX_FUNCTIONS = 128
MAX_DEPTH = 10
