"""Times the checks of one call, without its wire; prints microseconds of CPU, the best of nine."""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from remit.calls.answers import Answer, read_body
from remit.calls.arguments import settle
from remit.calls.planning import plan
from remit.calls.results import content_of, display_of, shape
from remit.catalog.definitions import load_definition
from remit.values.json import JsonObject

case = json.loads(Path(sys.argv[1]).read_text("utf-8"))
loaded = load_definition(case["definition"]).definition
if loaded is None:
    sys.exit("the case does not load")
definition = loaded
tool = definition.tools[0]
args = case["args"]
pins: JsonObject = {"status": "paid"}
answer = Answer(
    status=200, headers=(("content-type", "application/json"),), body=case["body"].encode()
)
body = read_body(tool, answer)


def checks() -> None:
    """Everything between the arguments and the wire, and between the wire and the result."""
    arguments = settle(tool, args, pins)
    plan(tool, definition, arguments)
    result = shape(tool, body, tool.response_mapping)
    content_of(result)
    display_of(tool, result)


def timed_us(work: Callable[[], object], times: int = 2_000) -> float:
    """Microseconds of CPU of one run, the mean of many."""
    began = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - began) / times * 1e6


checks()
settled = settle(tool, args, pins)
mapped = shape(tool, body, tool.response_mapping)
parts: tuple[Callable[[], object], ...] = (
    checks,
    lambda: settle(tool, args, pins),
    lambda: plan(tool, definition, settled),
    lambda: shape(tool, body, tool.response_mapping),
    lambda: (content_of(mapped), display_of(tool, mapped)),
)
print(*(min(timed_us(part) for _ in range(9)) for part in parts))
