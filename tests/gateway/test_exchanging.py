"""Polls of a job, and the only retry there is (contract sections 5 and 6)."""

from __future__ import annotations

import pytest

from remit.catalog.model import Definition
from remit.errors import CallError, EgressRefused, UpstreamTimeout, UpstreamUnreachable
from remit.gateway.ports import WireResponse
from tests.catalog.documents import Json, endpoint_tool, load, posting
from tests.gateway.fakes import CREDENTIAL, ScriptedEgress, Stage, answer

POLLING: Json = {
    "statusUrl": "/jobs/{{response.id}}",
    "statusField": "status",
    "completeValue": "done",
    "failedValue": "failed",
    "resultMapping": {"url": "url"},
    "pollIntervalMs": 1000,
    "maxPolls": 3,
}
JOB = {"id": 7}
RUNNING, DONE = {"status": "running"}, {"status": "done", "url": "u", "extra": 1}


def rendering(**changes: object) -> Definition:
    """A tool that starts a job."""
    polling = {k: v for k, v in {**POLLING, **changes}.items() if v is not None}
    mapping = {"id": "id"}
    return load(
        {**posting({}, {}), "name": "render", "polling": polling, "responseMapping": mapping}
    )


def stage(*answers: WireResponse | CallError, definition: Definition | None = None) -> Stage:
    """The app with these answers."""
    return Stage(definition=definition or rendering(), egress=ScriptedEgress(list(answers)))


@pytest.mark.promise("T-38", "T-40", "T-41")
async def test_result_is_the_finished_jobs() -> None:
    """The first poll after the interval; `resultMapping` maps the last answer (section 6)."""
    acme = stage(answer(JOB, 202), answer(RUNNING), answer({}), answer(DONE))
    outcome = await acme.call("render")

    assert outcome.result == {"url": "u"}
    assert acme.egress.lines == ["POST /v1/things", *["GET /v1/jobs/7"] * 3]
    assert acme.clock.slept == [1000, 1000, 1000]
    poll = dict(acme.egress.sent[1].headers)
    assert poll["Authorization"] == f"Bearer {CREDENTIAL}"
    assert "Idempotency-Key" not in poll
    assert acme.egress.sent[1].body is None
    assert acme.notes.told == [
        "started render",
        "answered render",
        "polled render 1/3 running",
        "polled render 2/3 no status yet",
        "polled render 3/3 done",
    ]


async def test_without_result_mapping_the_whole_last_body_is_the_result() -> None:
    """`resultMapping` takes the place of `responseMapping`; without it all of it (6)."""
    acme = stage(answer(JOB), answer(DONE), definition=rendering(resultMapping=None))

    assert (await acme.call("render")).result == DONE


@pytest.mark.promise("T-42")
async def test_giving_up_tells_that_the_job_may_still_finish() -> None:
    """`poll_exhausted` says so, and that the action may have happened (section 6)."""
    acme = stage(answer(JOB), answer(RUNNING))
    outcome = await acme.call("render")

    assert outcome.error is not None
    assert outcome.error.code == "poll_exhausted"
    assert "may still finish" in outcome.error.message
    assert outcome.may_have_happened
    assert len(acme.egress.sent) == 4


async def test_failed_job_is_poll_failed() -> None:
    """A declared failed value ends it at once; its outcome is known (contract section 6)."""
    acme = stage(answer(JOB), answer({"status": "failed"}))
    outcome = await acme.call("render")

    assert outcome.error is not None
    assert outcome.error.code == "poll_failed"
    assert outcome.error.details == {"status": "failed", "polls": 1}
    assert not outcome.may_have_happened


@pytest.mark.parametrize(
    "failing",
    [
        UpstreamTimeout("x", sent=True),
        UpstreamUnreachable("x", sent=False),
        answer({}, 500),
        answer({}, 503),
        answer({}, 429),
        answer(b"{"),
        answer(b"done", media="text/plain"),
        answer(None, 204),
    ],
    ids=str,
)
async def test_poll_that_fails_in_passing_counts_and_goes_on(
    failing: WireResponse | CallError,
) -> None:
    """Network, 429 and 5xx count and polling goes on; no answer means running (6)."""
    good = stage(answer(JOB), failing, failing, answer(DONE))
    assert (await good.call("render")).result == {"url": "u"}

    bad = stage(answer(JOB), failing)
    outcome = await bad.call("render")
    assert outcome.error is not None
    assert outcome.error.code == "poll_exhausted"
    assert len(bad.egress.sent) == 4


@pytest.mark.parametrize(
    ("failing", "code"),
    [
        (answer({}, 404), "upstream_error"),
        (answer({}, 400), "upstream_error"),
        (answer({}, 401), "not_connected"),
        (answer(None, 302, location="https://evil.example"), "upstream_error"),
        (EgressRefused("x"), "egress_refused"),
    ],
)
async def test_poll_refused_for_good_ends_it(failing: WireResponse | CallError, code: str) -> None:
    """4xx ends it (contract section 6)."""
    acme = stage(answer(JOB), failing, answer(DONE))
    outcome = await acme.call("render")

    assert outcome.error is not None
    assert outcome.error.code == code
    assert len(acme.egress.sent) == 2


async def test_job_whose_status_is_refused_was_started_all_the_same() -> None:
    """A 4xx on a poll must not read as if nothing had happened (section 5, unknown outcomes)."""
    acme = stage(answer(JOB, 202), answer({"message": "no such job"}, 404))
    outcome = await acme.call("render")

    assert outcome.error is not None
    assert outcome.error.code == "upstream_error"
    assert "the job was started" in outcome.error.message
    assert outcome.may_have_happened


@pytest.mark.parametrize(
    ("last", "words"),
    [
        ({"status": "Done"}, '"status" was "Done"; only "done"'),
        ({"state": "done"}, 'nothing at "status"'),
    ],
)
async def test_giving_up_tells_a_slow_job_from_a_wrong_definition(
    last: dict[str, str], words: str
) -> None:
    """What the polls really showed is said, and nothing is made up (look and voice)."""
    acme = stage(answer(JOB), answer(last))
    outcome = await acme.call("render")

    assert outcome.error is not None
    assert words in outcome.error.message


async def test_first_error_is_not_polled() -> None:
    """Only a job that was taken is awaited (contract section 5, step 9)."""
    acme = stage(answer({}, 500))
    await acme.call("render")

    assert len(acme.egress.sent) == 1
    assert acme.clock.slept == []


@pytest.mark.parametrize(
    ("first", "second", "slept"),
    [
        ({}, {}, [1000, 1000]),
        ({"retry_after": "5"}, {"retry_after": "0"}, [5000, 1000]),
        ({}, {"retry_after": "7"}, [1000, 7000]),
        ({}, {"retry_after": "999999999999"}, [1000, 300_000]),
        ({}, {"retry_after": "soon"}, [1000, 1000]),
        (
            {},
            {
                "retry_after": "Sun, 06 Nov 1994 08:49:49 GMT",
                "date": "Sun, 06 Nov 1994 08:49:37 GMT",
            },
            [1000, 12_000],
        ),
        ({}, {"retry_after": "Sun, 06 Nov 1994 08:49:49 GMT"}, [1000, 1000]),
    ],
)
async def test_retry_after_lengthens_a_wait(
    first: dict[str, str], second: dict[str, str], slept: list[int]
) -> None:
    """`Retry-After` lengthens a wait, the first as well, and never for ever (section 6)."""
    acme = stage(answer(JOB, 202, **first), answer(RUNNING, **second), answer(DONE))
    await acme.call("render")

    assert acme.clock.slept == slept


@pytest.mark.parametrize("url", ["https://evil.example/j", "http://api.acme.example/j"])
async def test_credential_follows_no_answer_elsewhere(url: str) -> None:
    """An answer must not choose where the credential goes (section 6; CWE-918)."""
    acme = stage(answer({"url": url}), definition=rendering(statusUrl="{{response.url}}"))
    outcome = await acme.call("render")

    assert outcome.error is not None
    assert outcome.error.code == "egress_refused"
    assert len(acme.egress.sent) == 1


async def test_job_without_an_id_may_have_happened() -> None:
    """The job was started: nothing says that it was not called (contract section 5)."""
    outcome = await stage(answer({})).call("render")

    assert outcome.error is not None
    assert outcome.error.code == "response_invalid"
    assert "response.id" in outcome.error.message
    assert outcome.may_have_happened


async def test_job_that_cannot_be_asked_for_is_not_started() -> None:
    """Missing in a path: the call fails, names it, and nothing is sent (section 4)."""
    acme = stage(answer(JOB), definition=rendering(statusUrl="/jobs/{{args.room}}"))
    outcome = await acme.call("render")

    assert outcome.error is not None
    assert outcome.error.code == "missing_reference"
    assert acme.egress.sent == []


async def test_words_of_a_status_cannot_draw_on_a_terminal() -> None:
    """A status is shown in one line, masked, nothing hidden (contract sections 5 and 7)."""
    status = {"status": f"\x1b[2J{CREDENTIAL}\nfake" + "x" * 500}
    acme = stage(answer(JOB), answer(status))
    outcome = await acme.call("render")

    assert outcome.error is not None
    for text in (*acme.notes.told, outcome.error.message, str(outcome.error.details)):
        assert text.isprintable()
        assert "canary" not in text
        assert len(text) < 400


# --- the retry of a busy read ----------------------------------------------------------------

READ = load(endpoint_tool("get_thing"))


@pytest.mark.parametrize(
    ("answers", "sent", "slept"),
    [
        ([answer({}, 503), answer({})], 2, [500]),
        ([answer({}, 429), answer({}, 503), answer({})], 3, [500, 1000]),
        ([answer({}, 503)], 3, [500, 1000]),
        ([answer({}, 429, retry_after="2"), answer({})], 2, [2000]),
        ([answer({}, 429, retry_after="10"), answer({})], 2, [10_000]),
        ([answer({}, 429, retry_after="11"), answer({})], 1, []),
        ([answer({}, 503, retry_after="0"), answer({})], 2, [0]),
        (
            [
                answer(
                    {},
                    503,
                    retry_after="Sun, 06 Nov 1994 08:49:40 GMT",
                    date="Sun, 06 Nov 1994 08:49:37 GMT",
                ),
                answer({}),
            ],
            2,
            [3000],
        ),
        ([answer({}, 500), answer({})], 1, []),
        ([UpstreamTimeout("x", sent=True), answer({})], 1, []),
    ],
)
async def test_only_a_busy_read_is_tried_again(
    answers: list[WireResponse | CallError], sent: int, slept: list[int]
) -> None:
    """429/503 on GET: up to 2 retries, honouring Retry-After up to 10 s (section 5)."""
    acme = stage(*answers, definition=READ)
    await acme.call("get_thing")

    assert len(acme.egress.sent) == sent
    assert acme.clock.slept == slept
    assert len([told for told in acme.notes.told if told.startswith("retrying")]) == len(slept)
