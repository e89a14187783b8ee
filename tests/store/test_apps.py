"""Apps and their versions: submitted, approved, edited, suspended, each recorded."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from remit.catalog.scales import Category, Ceiling, DangerLevel
from remit.gateway.records import App, Edit, Stale, Undecidable, Version
from remit.store.store import Store
from tests.store.making import CEILING, NOW, OTHER, W, act, approval, draft


def edit(**fields: object) -> Edit:
    """A change of the first version's text."""
    given = {
        "version": 1, "number": 0, "definition_json": '{"v":2}', "remit_digest": "r2",
        "diff_json": '[{"pointer":"/description"}]', "at": NOW + 1, "by": "key:vendor", **fields,
    }  # fmt: skip
    return Edit(workspace=W, app="scenes", **given)


async def submitted(store: Store, **fields: object) -> Version:
    """A version that was submitted just now."""
    version = await store.versions.submit(W, draft(**fields), installation="i1", act=act())
    assert isinstance(version, Version)
    return version


async def test_first_version_makes_the_app(store: Store) -> None:
    """The first version is 1, and the installation has an id of its own (contract section 10)."""
    version = await submitted(store)

    assert version == draft(number=1)
    assert await store.versions.get(W, "scenes", 1) == version
    assert await store.apps.get(W, "scenes") == App(
        workspace=W, id="scenes", installation="i1", created_at=NOW
    )


async def test_installation_survives_new_versions(store: Store) -> None:
    """One app in one workspace, with an id that survives new versions (contract section 1)."""
    await submitted(store)
    await store.versions.submit(W, draft(), installation="i2", act=act())

    app = await store.apps.get(W, "scenes")
    assert app is not None
    assert (app.installation, app.revision) == ("i1", 2)


async def test_approval_fixes_ceiling_and_consent_and_puts_the_version_in_force(
    store: Store,
) -> None:
    """From submitted to approved, at or under the ceiling asked (contract section 7)."""
    await submitted(store)
    approved = await store.versions.approve(W, "scenes", 1, approval(), act=act())

    assert isinstance(approved, Version)
    assert (approved.status, approved.ceiling, approved.consent) == ("approved", CEILING, "user")
    (in_force,) = await store.apps.in_force(W)
    assert in_force.version == approved
    assert in_force.app.in_force == 1


async def test_every_ceiling_is_read_back_as_it_was_approved(store: Store) -> None:
    """A ceiling that is not the one approved would widen an app."""
    for category in Category:
        for danger_level in DangerLevel:
            ceiling = Ceiling(category=category, danger_level=danger_level)
            version = await submitted(store)
            await store.versions.approve(
                W, "scenes", version.number, approval(ceiling=ceiling), act=act()
            )
            kept = await store.versions.get(W, "scenes", version.number)
            assert kept is not None
            assert kept.ceiling == ceiling


async def test_new_version_waits_while_the_old_one_stays_in_force(store: Store) -> None:
    """The version in force goes on until the new one is approved (contract section 7)."""
    await submitted(store)
    await store.versions.approve(W, "scenes", 1, approval(), act=act())
    await submitted(store, remit_digest="r2")
    assert (await store.apps.in_force(W))[0].app.in_force == 1

    await store.versions.approve(W, "scenes", 2, approval(), act=act())

    statuses = [version.status for version in (await store.versions.list(W, "scenes")).items]
    assert statuses == ["approved", "superseded"]
    assert (await store.apps.in_force(W))[0].app.in_force == 2


async def test_only_the_newest_submission_waits_for_a_decision(store: Store) -> None:
    """A reviewer decides about what the vendor wants now."""
    await submitted(store)
    await submitted(store)

    undecidable = await store.versions.approve(W, "scenes", 1, approval(), act=act())
    assert isinstance(undecidable, Undecidable)
    assert undecidable.version.status == "superseded"


async def test_of_two_reviewers_at_once_one_decides(store: Store, beside: Store) -> None:
    """An approval and a rejection cannot both hold."""
    await submitted(store)
    results = await asyncio.gather(
        store.versions.approve(W, "scenes", 1, approval(), act=act()),
        beside.versions.reject(W, "scenes", 1, approval(reason="no"), act=act()),
    )

    decided = [result for result in results if isinstance(result, Version)]
    refused = [result for result in results if isinstance(result, Undecidable)]
    assert len(decided) == len(refused) == 1
    assert refused[0].version.status == decided[0].status
    assert len((await store.audit.list(W)).items) == 2


async def test_submissions_at_once_get_numbers_of_their_own(store: Store, beside: Store) -> None:
    """Two nodes, one app that is not there yet: nothing is lost or numbered twice."""
    versions = await asyncio.gather(
        *(
            node.versions.submit(W, draft(), installation=f"i{number}", act=act())
            for number in range(5)
            for node in (store, beside)
        )
    )
    assert sorted(v.number for v in versions if isinstance(v, Version)) == list(range(1, 11))


async def test_edit_is_kept_with_its_diff(store: Store) -> None:
    """Anything that is no new version is an edit, kept with a diff (contract section 7)."""
    await submitted(store)
    app = await store.apps.get(W, "scenes")
    assert app is not None

    version = await store.versions.edit(W, edit(), act=act(), if_revision=app.revision)

    assert isinstance(version, Version)
    assert (version.number, version.edit, version.definition_json) == (1, 1, '{"v":2}')
    original, first = await store.versions.edits(W, "scenes", 1)
    assert (original.number, original.definition_json) == (0, draft().definition_json)
    assert first == edit(number=1)


async def test_change_of_what_somebody_else_changed_is_stale(store: Store) -> None:
    """PUT with an ETag that is old is 412 (contract section 10), and changes nothing."""
    await submitted(store)
    before = await store.apps.get(W, "scenes")
    assert before is not None
    results = await asyncio.gather(
        store.versions.edit(W, edit(), act=act(), if_revision=before.revision),
        store.versions.submit(W, draft(), installation="i", act=act(), if_revision=before.revision),
    )

    stale = [result for result in results if isinstance(result, Stale)]
    assert stale == [Stale(revision=before.revision + 1)]
    assert len((await store.audit.list(W)).items) == 2


async def test_submission_for_an_app_that_must_not_be_there_is_stale_where_it_is(
    store: Store,
) -> None:
    """If-Match and its contrary, for an app that is and one that is not."""
    await submitted(store)
    taken = await store.versions.submit(W, draft(), installation="i", act=act(), if_revision=0)
    assert taken == Stale(revision=1)
    missing = draft(app="missing")
    gone = await store.versions.submit(W, missing, installation="i", act=act(), if_revision=4)
    assert gone == Stale(revision=0)
    assert await store.apps.get(W, "missing") is None


async def test_suspension_and_resumption_happen_once_each(store: Store) -> None:
    """The first reason stays; to resume what runs changes nothing (contract section 7)."""
    await submitted(store)
    first = await store.apps.suspend(W, "scenes", reason="leak", node="n", act=act())
    again = await store.apps.suspend(W, "scenes", reason="other", node="n", act=act())
    assert first is not None
    assert again is not None
    assert again.app == first.app
    assert (first.app.suspended_reason, first.app.suspended_by) == ("leak", "key:k1")

    resumed = await store.apps.resume(W, "scenes", act=act())
    assert resumed == replace(
        first.app, suspended_at=None, suspended_by=None, suspended_reason=None,
        revision=first.app.revision + 1,
    )  # fmt: skip
    assert await store.apps.resume(W, "scenes", act=act()) == resumed
    assert len((await store.audit.list(W)).items) == 3


async def test_apps_of_another_workspace_are_not_there(store: Store) -> None:
    """Another workspace's anything is as if it were not there (issue 3, bad input)."""
    await submitted(store)

    assert await store.apps.get(OTHER, "scenes") is None
    assert await store.apps.in_force(OTHER) == ()
    assert (await store.apps.list(OTHER)).items == ()
    assert await store.apps.suspend(OTHER, "scenes", reason="", node="n", act=act(OTHER)) is None
    assert await store.apps.resume(OTHER, "scenes", act=act(OTHER)) is None
    assert await store.versions.get(OTHER, "scenes", 1) is None
    assert (await store.versions.list(OTHER, "scenes")).items == ()
    assert await store.versions.edits(OTHER, "scenes", 1) == ()
    for decide in (store.versions.approve, store.versions.reject):
        assert await decide(OTHER, "scenes", 1, approval(), act=act(OTHER)) is None
    with pytest.raises(ValueError, match="another workspace"):
        await store.versions.edit(OTHER, edit(), act=act(OTHER), if_revision=1)
    kept = await store.versions.get(W, "scenes", 1)
    assert kept is not None
    assert kept.status == "submitted"


async def test_apps_are_listed_by_id_in_pages(store: Store) -> None:
    """Byte order, on both databases alike."""
    for name in ("b-app", "a-app", "c-app"):
        await submitted(store, app=name)

    first = await store.apps.list(W, limit=2)
    second = await store.apps.list(W, limit=2, cursor=first.next)
    assert [app.id for app in first.items + second.items] == ["a-app", "b-app", "c-app"]
    assert second.next is None
