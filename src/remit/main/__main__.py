"""``python -m remit.main``: the command line."""

import sys

from remit.main.cli import main

sys.exit(main())
