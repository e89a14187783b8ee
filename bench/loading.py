"""Loads one definition in a process of its own; prints CPU seconds, those of parsing, and MB."""

import resource
import sys
import time
from pathlib import Path
from typing import cast

from remit.catalog.definitions import load_definition
from remit.documents.load import parse_document
from remit.values.json import JsonValue

data = Path(sys.argv[1]).read_bytes()
began = time.process_time()
document = parse_document(data, name=sys.argv[1])
del data
parsed = time.process_time()
loaded = load_definition(cast("JsonValue", document))
ended = time.process_time()
if not loaded.sound:
    sys.exit(f"does not load: {loaded.mistakes[:3]}")
print(
    ended - began,
    parsed - began,
    resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
)
