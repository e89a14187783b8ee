"""Lists by key set: a page goes on behind the last row seen, whatever came in meanwhile."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import TYPE_CHECKING, TypeVar, cast

from sqlalchemy import Select, tuple_

from remit.errors import WrongUse
from remit.gateway.records import Page
from remit.store.base import made

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Column, Connection

T = TypeVar("T")

DEFAULT_LIMIT = 50
MAX_LIMIT = 500
_UNFIT = re.compile("[\0\ud800-\udfff]")


def page(
    connection: Connection,
    cls: type[T],
    query: Select[tuple[object, ...]],
    key: Sequence[Column[object]],
    *,
    limit: int,
    cursor: str | None,
    newest_first: bool = True,
) -> Page[T]:
    """Run a query as one page of a list.

    Args:
        connection: it is read from.
        cls: what a row becomes.
        query: with its conditions, without an order.
        key: the columns that order the list, unique together, none of them null.
        limit: 1 to 500 (contract section 10).
        cursor: ``next`` of the page before; None for the first.
        newest_first: whether the list runs down the key.

    Raises:
        WrongUse: the cursor is not one that a list gave, or the limit is out of bounds.
    """
    if not 1 <= limit <= MAX_LIMIT:
        msg = f"limit is {limit}; it can be 1 to {MAX_LIMIT}."
        raise WrongUse(msg)
    if cursor is not None:
        seen = tuple_(*_opened(cursor, key))
        query = query.where(tuple_(*key) < seen if newest_first else tuple_(*key) > seen)
    order = [column.desc() if newest_first else column.asc() for column in key]
    rows = connection.execute(query.order_by(*order).limit(limit + 1)).mappings().all()
    after = None
    if len(rows) > limit:
        after = _closed([rows[limit - 1][column.name] for column in key])
    return Page(items=tuple(made(cls, row) for row in rows[:limit]), next=after)


def _closed(values: list[object]) -> str:
    text = json.dumps(values, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _opened(cursor: str, key: Sequence[Column[object]]) -> list[object]:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        decoded: object = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        decoded = None
    values = cast("list[object]", decoded) if isinstance(decoded, list) else []
    types = [column.type.python_type for column in key]
    if [type(value) for value in values] != types or not all(map(_fits, values)):
        msg = "The cursor is not one that a list gave. Take `next` of the page before, or none."
        raise WrongUse(msg)
    return values


def _fits(value: object) -> bool:
    """Whether a database can compare with it: numbers have 64 bits, text has no NUL."""
    if isinstance(value, int):
        return abs(value) < 2**63
    return isinstance(value, str) and not _UNFIT.search(value)
