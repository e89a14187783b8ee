"""From a body to a result: mapping, what the model reads, how it is drawn (sections 2 and 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from remit.calls.lookup import MISSING, collect
from remit.catalog.mapping import Each, ResponseMapping
from remit.catalog.scales import Renderer
from remit.documents.canonical import compact_json
from remit.errors import ResponseInvalid
from remit.values.urls import UrlFault, parse_url

if TYPE_CHECKING:
    from remit.calls.answers import Body
    from remit.catalog.model import Tool
    from remit.values.json import JsonObject, JsonValue

MAX_CONTENT_BYTES = 16 * 1024


class Display(Struct, frozen=True, kw_only=True):
    """How a result is drawn.

    Attributes:
        renderer: the declared one, or ``json`` where the result does not fit it.
        data: what that renderer reads.
        misfit: why the declared renderer could not be used, or None.
    """

    renderer: Renderer
    data: JsonValue
    misfit: str | None = None

    def as_json(self) -> JsonObject:
        """``{renderer, data}`` as on every surface."""
        # ``value`` is looked up by Python code, and most are of this one.
        renderer = "json" if self.renderer is Renderer.JSON else self.renderer.value
        return {"renderer": renderer, "data": self.data}


class Content(Struct, frozen=True, kw_only=True):
    """What the model reads: never empty; ``cut`` says whether something was left out."""

    text: str
    cut: bool


def shape(tool: Tool, body: Body, mapping: ResponseMapping | None) -> JsonValue:
    """The result: the mapped fields, or the whole body where there is no mapping.

    Raises:
        ResponseInvalid: the answer is text, and fields of it are mapped.
    """
    if mapping is None:
        return body.value
    if body.kind == "empty" or not mapping.entries:
        return {}
    if body.kind == "text":
        raise ResponseInvalid(
            f"{tool.name}: the app answered with text where fields are mapped. "
            "The endpoint must answer JSON, or the tool must have no mapping.",
            sent=True,
        )
    return apply_mapping(mapping, body.value)


def apply_mapping(mapping: ResponseMapping, body: JsonValue) -> JsonObject:
    """Take the mapped fields out of a body; a path that is not there leaves its key out."""
    result: JsonObject = {}
    for name, rule in mapping.entries:
        if isinstance(rule, Each):
            _apply_each(result, name, rule, body)
            continue
        value = body
        for key in rule:
            # Objects in objects are followed here, as most paths lead through nothing else.
            if not isinstance(value, dict) or key not in value:
                found = collect(body, rule)
                if found is not MISSING:
                    result[name] = found
                break
            value = value[key]
        else:
            result[name] = value
    return result


def absent(mapping: ResponseMapping, result: JsonValue) -> tuple[tuple[str, str], ...]:
    """Names of a mapping that the result lacks, with the path that led nowhere."""
    if not isinstance(result, dict):
        return ()
    missed = [entry for entry in mapping.entries if entry[0] not in result]
    return tuple(
        (name, ".".join(rule.array if isinstance(rule, Each) else rule) or ".")
        for name, rule in missed
    )


def _apply_each(result: JsonObject, name: str, rule: Each, body: JsonValue) -> None:
    array = collect(body, rule.array)
    if not isinstance(array, list):
        # A null list is data, as everywhere; anything else is not the array that was promised.
        if array is None:
            result[name] = None
        return
    taken = array if rule.limit is None else array[: rule.limit]
    rows: list[JsonValue] = []
    for item in taken:
        found = ((key, collect(item, path)) for key, path in rule.items)
        rows.append({key: value for key, value in found if value is not MISSING})
    result[name] = rows
    if len(array) > len(taken):
        result[f"{name}More"] = len(array) - len(taken)


def content_of(
    result: JsonValue, *, max_bytes: int = MAX_CONTENT_BYTES, text: str | None = None
) -> Content:
    """The result as compact JSON, capped, cut at a boundary and marked as cut.

    Args:
        result: mapped and masked.
        max_bytes: the most that it may have.
        text: the result as ``compact_json`` writes it, where that is known.
    """
    if text is None:
        text = compact_json(result)
    if len(text) <= max_bytes // 4 or len(raw := text.encode()) <= max_bytes:
        return Content(text=text, cut=False)
    mark = f" …[cut: the whole result has {len(raw):,} bytes; at most {max_bytes:,} are shown]"
    head = raw[: max(0, max_bytes - len(mark.encode()))].decode("utf-8", "ignore")
    return Content(text=head[: _boundary(head)] + mark, cut=True)


def _boundary(head: str) -> int:
    """Where to cut: after an object or a list, else before a comma, where one is near the end."""
    after = max(head.rfind("}"), head.rfind("]")) + 1
    for boundary in (after, head.rfind(",")):
        if boundary > len(head) - 1024:
            return boundary
    return len(head)


def display_of(tool: Tool, result: JsonValue) -> Display:
    """How the result is drawn; what does not fit its renderer is drawn as ``json``."""
    if tool.renderer is Renderer.JSON:
        return Display(renderer=Renderer.JSON, data=result)
    data = _READERS[tool.renderer](tool, result)
    if isinstance(data, str):
        return Display(
            renderer=Renderer.JSON,
            data=result,
            misfit=f"the result does not fit the renderer {tool.renderer.value}: {data}",
        )
    return Display(renderer=tool.renderer, data=data.value)


class _Fitting(Struct, frozen=True):
    """Data that fits its renderer; a reader answers with the reason instead where none does."""

    value: JsonValue


def _bridged(tool: Tool, result: JsonValue) -> JsonObject:
    """The renderer's own keys with their values; ``render`` says where a value comes from."""
    if not isinstance(result, dict):
        return {}
    if not tool.render:
        return result
    own = {key: value for key, value in result.items() if key not in tool.render}
    given = {key: result[source] for key, source in tool.render.items() if source in result}
    return {**own, **given}


def _read_address(tool: Tool, result: JsonValue, extra: str) -> _Fitting | str:
    fields = _bridged(tool, result)
    if not is_web_address(fields.get("url")) and not tool.render:
        found = [v for v in _values(result) if is_web_address(v)]
        if len(found) != 1:
            return "no url" if not found else f"{len(found)} addresses and no render.url"
        fields = {**fields, "url": found[0]}
    if not is_web_address(fields.get("url")):
        return "url is no absolute http(s) address"
    data: JsonObject = {"url": fields["url"]}
    if isinstance(fields.get(extra), str):
        data[extra] = fields[extra]
    return _Fitting(data)


def _values(result: JsonValue) -> list[JsonValue]:
    return list(result.values()) if isinstance(result, dict) else [result]


def is_web_address(value: JsonValue) -> bool:
    """Whether a value is an absolute http(s) address."""
    if not isinstance(value, str):
        return False
    try:
        parse_url(value.partition("#")[0])
    except UrlFault:
        return False
    return True


def _read_image(tool: Tool, result: JsonValue) -> _Fitting | str:
    return _read_address(tool, result, "alt")


def _read_link(tool: Tool, result: JsonValue) -> _Fitting | str:
    return _read_address(tool, result, "label")


def _read_diff(tool: Tool, result: JsonValue) -> _Fitting | str:
    fields = _bridged(tool, result)
    if "before" in fields and "after" in fields:
        return _Fitting({"before": fields["before"], "after": fields["after"]})
    if isinstance(fields.get("patch"), str):
        return _Fitting({"patch": fields["patch"]})
    return "neither before and after nor patch"


def _read_table(tool: Tool, result: JsonValue) -> _Fitting | str:
    if _is_rows(result):
        return _Fitting({"rows": result})
    fields = _bridged(tool, result)
    if not _is_rows(fields.get("rows")) and not tool.render:
        found = [v for v in _values(result) if _is_rows(v)]
        if len(found) != 1:
            return "no list of objects" if not found else "several lists and no render.rows"
        fields = {**fields, "rows": found[0]}
    if not _is_rows(fields.get("rows")):
        return "rows is no list of objects"
    data: JsonObject = {"rows": fields["rows"]}
    if isinstance(fields.get("columns"), list):
        data["columns"] = fields["columns"]
    return _Fitting(data)


def _is_rows(value: JsonValue) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)


_READERS = {
    Renderer.IMAGE: _read_image,
    Renderer.LINK: _read_link,
    Renderer.DIFF: _read_diff,
    Renderer.TABLE: _read_table,
}
