"""Log lines as JSON, one a line, with the id of the request they belong to."""

import logging
import sys
from datetime import UTC, datetime

from service import wire
from service.guards import request_id


class JsonLines(logging.Formatter):
    """A record as one line of JSON. Only what we name ourselves gets in: no bodies, no headers, no keys."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, wire.Json] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            "request_id": request_id.get(),
        }
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return wire.dumps(line).decode()


def log_to_stderr() -> None:
    """Send every log line of this process to stderr as JSON; others' loggers only from warnings up."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("loccit").setLevel(logging.INFO)


def log_nothing() -> None:
    """Keep log lines out of the way of a person at a terminal, who gets sentences instead."""
    logging.basicConfig(handlers=[logging.NullHandler()], force=True)
