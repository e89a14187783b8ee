"""Lints one definition in a process of its own; prints CPU seconds, findings, and MB."""

import resource
import sys
import time
from pathlib import Path
from typing import cast

from remit.documents.load import parse_document
from remit.lint.run import lint_definition
from remit.values.json import JsonValue

document = parse_document(Path(sys.argv[1]).read_bytes(), name=sys.argv[1])
began = time.process_time()
found = lint_definition(cast("JsonValue", document))
ended = time.process_time()
print(ended - began, len(found), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
