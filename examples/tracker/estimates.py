"""Estimates: data that the server keeps, so that its answer and no other is what was saved."""

from __future__ import annotations

from datetime import UTC, datetime

from starlette.responses import Response

from answers import Asked, Problem, route, said
from database import Database, Estimate
from sign_in import SignIn
from workspaces import Member, Workspaces

POINTS = (1, 2, 3, 5, 8, 13, 21)


class Estimates:
    """Reads and saves estimates, for members of the tenant alone.

    Args:
        workspaces: who may see which project.
        database: where they are kept.
        sign_in: says who asks.
    """

    def __init__(self, workspaces: Workspaces, database: Database, sign_in: SignIn) -> None:
        self._workspaces = workspaces
        self._database = database
        self._sign_in = sign_in
        one = "/api/estimates/{tenant}/{issue}"
        self.routes = (
            route("GET", "/api/estimates/{tenant}", self._list),
            route("GET", one, self._read),
            route("PUT", one, self._save),
        )

    def _list(self, asked: Asked) -> Response:
        member = self._sign_in.member(asked, asked.places["tenant"])
        found = self._database.estimates(member.tenant)
        seen = [one for one in found if self._workspaces.project_of(member, one.issue)]
        return said({"items": [_shown(one) for one in seen]})

    def _read(self, asked: Asked) -> Response:
        member, issue, _ = self._place(asked)
        found = self._database.estimate(member.tenant, issue)
        return said(
            _shown(found)
            if found
            else {"issueId": issue, "points": None, "version": 0, "savedBy": None, "savedAt": None}
        )

    def _save(self, asked: Asked) -> Response:
        member, issue, project = self._place(asked)
        if not member.may_change:
            words = f"You may read issues of {member.tenant_name}, not change them."
            raise Problem(403, "read_only", words)
        points = asked.body.get("points")
        # True is an int, and is no estimate.
        if points is not None and (type(points) is not int or points not in POINTS):
            allowed = ", ".join(map(str, POINTS))
            raise Problem(422, "invalid_points", f"An estimate is one of {allowed} points.")
        saved = self._database.save_estimate(
            member.tenant,
            issue,
            project=project,
            points=points if isinstance(points, int) else None,
            by=member.user,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        total = self._database.project_points(member.tenant, project)
        return said({**_shown(saved), "project": {"id": project, "points": total}})

    def _place(self, asked: Asked) -> tuple[Member, str, str]:
        member = self._sign_in.member(asked, asked.places["tenant"])
        issue = asked.places["issue"]
        project = self._workspaces.project_of(member, issue)
        if project is None:
            words = f"There is no issue {issue[:40]} in {member.tenant_name} that you may see."
            raise Problem(404, "no_issue", words)
        return member, issue, project


def _shown(estimate: Estimate) -> dict[str, object]:
    return {
        "issueId": estimate.issue,
        "points": estimate.points,
        "version": estimate.version,
        "savedBy": estimate.saved_by,
        "savedAt": estimate.saved_at,
    }
