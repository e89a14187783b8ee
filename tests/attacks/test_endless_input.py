"""Input that never ends, or that costs far more than its size: refused, and soon."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from remit.documents.problems import DocumentError
from remit.documents.strict_json import parse_json
from tests.catalog.documents import Json

MEMORY_BYTES = 1024 * 1024 * 1024
CPU_S = 20


def limited() -> None:
    """Hold a child to what a refusal may cost."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))


def remit(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, which may take little memory and time."""
    return subprocess.run(
        [sys.executable, "-m", "remit.main", *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        preexec_fn=limited,
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )


def definition(folder: Path) -> str:
    """A definition with one tool, written to a file."""
    tool: Json = {
        "name": "get_it",
        "description": "Gets it.",
        "category": "read",
        "dangerLevel": "safe",
        "parameters": {"type": "object", "properties": {}},
        "endpoint": {"method": "GET", "path": "/it"},
    }
    found: Json = {
        "id": "acme-app",
        "name": "Acme",
        "auth": {"type": "none"},
        "baseUrl": "https://api.acme.example",
        "tools": [tool],
    }
    path = folder / "acme.json"
    path.write_text(json.dumps(found), "utf-8")
    return str(path)


@pytest.mark.parametrize(
    "arguments",
    [
        ("lint", "/dev/zero"),
        ("show", "/dev/zero"),
        ("call", "{file}", "get_it", "--args", "@/dev/zero"),
        ("--config", "/dev/zero", "show", "{file}"),
        ("lock", "{file}", "--check", "-o", "/dev/zero"),
    ],
)
def test_a_file_without_an_end_is_refused_at_the_size_cap(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    """Issue 2, bad input: a device is not read until the memory is full."""
    file = definition(tmp_path)
    ran = remit(*(argument.format(file=file) for argument in arguments), folder=tmp_path)
    assert "/dev/zero: is larger than" in ran.stderr
    assert ran.returncode in (1, 2)


def test_a_document_that_nests_too_deep_beside_a_long_text_costs_little_memory() -> None:
    """A text of megabytes leaves no way back at each of its characters (was: 100 bytes each)."""
    text = '{"a":"' + "x" * 8_000_000 + '","b":' + "[" * 100 + "]" * 100 + "}"
    script = (
        "import resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({MEMORY_BYTES // 2}, {MEMORY_BYTES // 2}))\n"
        "from remit.documents.strict_json import parse_json\n"
        "from remit.documents.problems import DocumentError\n"
        "try:\n"
        "    parse_json(sys.stdin.read(), max_bytes=10**8)\n"
        "except DocumentError as error:\n"
        "    print(error.problems[0].message)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], input=text, capture_output=True, text=True, check=True
    )
    assert "more than 64 deep" in ran.stdout


@pytest.mark.parametrize("depth", [1, 7, 8, 9, 30, 60])
def test_every_mistake_is_named_at_its_own_place_at_any_depth(depth: int) -> None:
    """Issue 2: all mistakes of a document at once, however deep; sound neighbours are none."""
    inner = '{"k":1,"k":2,"n":[true,null,{"x":"y"},NaN],"t":"\\ud800"}'
    text = '{"a":' * depth + inner + "}" * depth
    with pytest.raises(DocumentError) as raised:
        parse_json(text)
    below = "/a" * depth
    assert [problem.pointer for problem in raised.value.problems] == [
        f"{below}/k",
        f"{below}/n/3",
        f"{below}/t",
    ]
