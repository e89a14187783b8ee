"""``python serve.py``: the component that answers the app's tools, on 127.0.0.1:8802."""

from api.app import main

if __name__ == "__main__":
    raise SystemExit(main())
