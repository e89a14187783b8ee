"""Devices of users."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"

_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the table, and an index of the tokens that go with a device."""
    op.create_table(
        "device",
        *[sa.Column(name, _TEXT, nullable=False) for name in ("workspace", "id", "user", "name")],
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("seen_at", sa.BigInteger, nullable=True),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_device"),
    )
    op.create_index("ix_device_created", "device", ["workspace", "created_at", "id"])
    op.create_index("ix_device_user", "device", ["workspace", "user", "created_at", "id"])
    condition = sa.text("device IS NOT NULL")
    op.create_index(
        "ix_api_key_device",
        "api_key",
        ["workspace", "device"],
        sqlite_where=condition,
        postgresql_where=condition,
    )
