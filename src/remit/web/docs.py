"""The page at /docs: the OpenAPI document for people, without a script and without an asset."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
code, pre { font: 14px/1.5 ui-monospace, monospace; }
details { border-top: 1px solid #8884; padding: .5rem 0; }
summary { cursor: pointer; }
.method { display: inline-block; font-weight: 600; width: 4.5rem; }
.words { color: light-dark(#555, #aaa); }
table { border-collapse: collapse; }
td, th { padding: .1rem 1rem .1rem 0; text-align: left; vertical-align: top; }
"""


def docs_page(document: dict[str, Any], brand: str) -> bytes:
    """The page of an OpenAPI document.

    Args:
        document: as ``openapi.document`` makes it.
        brand: the product's name.
    """
    title = escape(f"{brand} HTTP API")
    operations = "".join(_operations(document))
    schemas = "".join(_schemas(document))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head><body><h1>{title}</h1>"
        "<p>Send <code>Authorization: Bearer &lt;key&gt;</code>. Errors are RFC 9457 problem "
        'documents with a <code>code</code>. The same as data: <a href="/v1/openapi.json">'
        "openapi.json</a>.</p>"
        f"<h2>Routes</h2>{operations}<h2>Types</h2>{schemas}</body></html>\n"
    ).encode()


def _operations(document: dict[str, Any]) -> Iterator[str]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield (
                f'<details id="{escape(operation["operationId"])}"><summary>'
                f'<span class="method">{method.upper()}</span><code>{escape(path)}</code> '
                f'<span class="words">{escape(operation["summary"])}</span></summary>'
                f"{_roles(operation)}{_parameters(operation)}{_bodies(operation)}</details>"
            )


def _roles(operation: dict[str, Any]) -> str:
    roles = operation.get("x-roles")
    return f"<p>Keys: {escape(', '.join(roles))}.</p>" if roles else "<p>No key is needed.</p>"


def _parameters(operation: dict[str, Any]) -> str:
    rows = "".join(
        f"<tr><td><code>{escape(one['name'])}</code></td><td>{escape(one['in'])}</td>"
        f"<td>{'required' if one['required'] else ''}</td><td>{_type(one['schema'])}</td>"
        f"<td>{escape(one.get('description', ''))}</td></tr>"
        for one in operation["parameters"]
    )
    return f"<table>{rows}</table>" if rows else ""


def _bodies(operation: dict[str, Any]) -> str:
    parts: list[str] = []
    if body := operation.get("requestBody"):
        parts.append(f"<p>Body: {_content(body['content'])}</p>")
    for status, response in operation["responses"].items():
        parts.append(f"<p>{escape(status)}: {_content(response.get('content', {}))}</p>")
    return "".join(parts)


def _content(content: dict[str, Any]) -> str:
    return ", ".join(
        f"<code>{escape(media)}</code> {_type(one['schema'])}" for media, one in content.items()
    )


def _schemas(document: dict[str, Any]) -> Iterator[str]:
    for name, schema in document["components"]["schemas"].items():
        rows = "".join(
            f"<tr><td><code>{escape(key)}</code></td>"
            f"<td>{'required' if key in schema.get('required', ()) else ''}</td>"
            f"<td>{_type(one)}</td><td>{escape(one.get('description', ''))}</td></tr>"
            for key, one in schema.get("properties", {}).items()
        )
        words = escape(schema.get("description", ""))
        yield (
            f'<details id="type-{escape(name)}"><summary><code>{escape(name)}</code> '
            f'<span class="words">{words}</span></summary><table>{rows}</table></details>'
        )


def _type(schema: dict[str, Any]) -> str:
    """A schema in a word or two."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#type-{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(f"<code>{escape(str(one))}</code>" for one in schema["enum"])
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return escape(kind if isinstance(kind, str) else " or ".join(kind))
