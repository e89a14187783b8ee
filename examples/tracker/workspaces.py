"""Who belongs to which tenant, and what each may see and change: the facts of workspaces.json.

The page reads the same file, so that a form, a tool of the agent and this server judge alike.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict, cast

Role = Literal["admin", "member", "viewer"]
_ISSUE_ID = re.compile(r"([A-Z]{2,8})-[1-9][0-9]{0,8}")


class _Person(TypedDict):
    id: str
    name: str


class _Project(TypedDict):
    id: str
    name: str
    adminsOnly: bool


class _Tenant(TypedDict):
    id: str
    name: str
    members: dict[str, Role]
    projects: list[_Project]


class _File(TypedDict):
    people: list[_Person]
    tenants: list[_Tenant]


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A person within one tenant."""

    user: str
    name: str
    tenant: str
    tenant_name: str
    role: Role

    @property
    def may_change(self) -> bool:
        """Whether this person may change issues, or only read them."""
        return self.role != "viewer"


class Workspaces:
    """All tenants with their people and projects."""

    def __init__(self, people: Mapping[str, str], tenants: Mapping[str, _Tenant]) -> None:
        self._people = people
        self._tenants = tenants

    @classmethod
    def read(cls, file: Path) -> Workspaces:
        """Read the file."""
        found = cast("_File", json.loads(file.read_text("utf-8")))
        return cls(
            {person["id"]: person["name"] for person in found["people"]},
            {tenant["id"]: tenant for tenant in found["tenants"]},
        )

    def has_person(self, user: str) -> bool:
        """Whether there is somebody with this id."""
        return user in self._people

    def member(self, tenant: str, user: str) -> Member | None:
        """The person as a member of a tenant, or None where they do not belong to it."""
        found = self._tenants.get(tenant)
        role = found["members"].get(user) if found else None
        if found is None or role is None:
            return None
        return Member(
            user=user,
            name=self._people[user],
            tenant=tenant,
            tenant_name=found["name"],
            role=role,
        )

    def project_of(self, member: Member, issue: str) -> str | None:
        """The project of an issue by its id, or None where this member has no such project."""
        named = _ISSUE_ID.fullmatch(issue)
        for project in self._tenants[member.tenant]["projects"]:
            if named and project["id"] == named[1]:
                hidden = project["adminsOnly"] and member.role != "admin"
                return None if hidden else project["id"]
        return None
