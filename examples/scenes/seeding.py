"""The users and scenes that a new database begins with."""

from __future__ import annotations

import secrets
from pathlib import Path

from store import Kind, PlacedObject, Store, User

# Demo tokens, for anybody to read. A real product hands out its own, and only their hash is stored.
ANA = (User(id="ana", name="Ana"), "ana-token")
BEN = (User(id="ben", name="Ben"), "ben-token")

Spot = tuple[Kind, float, float, float]

Q3_FORECAST: tuple[Spot, ...] = (
    ("panel", -8.0, -3.0, 90.0),
    ("panel", -8.0, 3.0, 90.0),
    ("panel", 0.0, -8.0, 0.0),
    ("column", -4.0, -4.0, 0.0),
    ("column", 0.0, -4.0, 0.0),
    ("column", 4.0, -4.0, 0.0),
    ("column", -4.0, 0.0, 0.0),
    ("column", 0.0, 0.0, 0.0),
    ("column", 4.0, 0.0, 20.0),
    ("column", -4.0, 4.0, 0.0),
    ("column", 0.0, 4.0, 340.0),
    ("plant", -8.0, -8.0, 0.0),
)
SINCE_THE_SAVE: tuple[Spot, ...] = (("lamp", 7.0, -7.0, 0.0), ("plant", 7.0, 5.0, 0.0))
LOBBY: tuple[Spot, ...] = (
    ("panel", -8.0, 0.0, 90.0),
    ("plant", -7.0, -6.0, 0.0),
    ("plant", -7.0, 6.0, 0.0),
    ("lamp", -3.0, -7.0, 0.0),
    ("lamp", 5.0, -7.0, 0.0),
)
BENS_GALLERY: tuple[Spot, ...] = (
    ("panel", -4.0, -4.0, 30.0),
    ("panel", 3.0, -4.0, 330.0),
    ("lamp", 0.0, 2.0, 0.0),
)


def seed(store: Store) -> None:
    """Make the tables and their first rows, all or nothing; a database in use is left alone."""
    with store.transaction():
        if not store.is_new():
            return
        store.make_tables(Path(__file__).with_name("schema.sql").read_text(encoding="utf-8"))
        store.add_secret("signing", secrets.token_bytes(32))
        for user, token in (ANA, BEN):
            store.add_user(user, token)
        _add_scene(store, "ana", "scn_q3_forecast", "Q3 forecast", Q3_FORECAST)
        # Two objects came after the last save, so that there is something to compare.
        _place(store, "scn_q3_forecast", SINCE_THE_SAVE)
        _add_scene(store, "ana", "scn_lobby", "Lobby", LOBBY)
        _add_scene(store, "ana", "scn_blank", "Blank stage", ())
        _add_scene(store, "ben", "scn_ben_gallery", "Ben's gallery", BENS_GALLERY)


def _add_scene(
    store: Store, user_id: str, scene_id: str, name: str, spots: tuple[Spot, ...]
) -> None:
    store.add_scene(user_id, scene_id, name)
    _place(store, scene_id, spots)
    store.mark_saved(scene_id)


def _place(store: Store, scene_id: str, spots: tuple[Spot, ...]) -> None:
    for kind, x, y, rotation in spots:
        object_id = "obj_" + secrets.token_hex(5)
        placed = PlacedObject(id=object_id, kind=kind, x=x, y=y, rotation=rotation)
        store.add_object(scene_id, placed)
