"""Dates: a datetime, or a text in ISO 8601."""

from __future__ import annotations

import datetime
import re

_ISO = re.compile(
    r"\d{4}-\d\d-\d\d(?P<time>[T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(?P<zone>Z|[+-](0\d|1[0-8]):?[0-5]\d)?)?", re.ASCII
)


def instant(when: datetime.datetime | str) -> datetime.datetime:
    """Returns the datetime that an argument stands for. A datetime without a time zone is in UTC, as in
    pymongo; a text with a time needs one."""
    if isinstance(when, datetime.datetime):
        return when if when.tzinfo else when.replace(tzinfo=datetime.timezone.utc)
    wrong = f'{when!r} is no date: give a datetime, or a text such as "2026-01-01T00:00:00Z"'
    if isinstance(when, (int, float)) and not isinstance(when, bool):
        raise TypeError(f"{when!r} has no unit: write datetime.fromtimestamp({when!r}, timezone.utc) for seconds since 1970")
    if not isinstance(when, str):
        raise TypeError(wrong)
    found = _ISO.fullmatch(when)
    if found is None:
        raise ValueError(wrong)
    if found["time"] and not found["zone"]:
        raise ValueError(f'{when!r} has no time zone: write "{when}Z" for UTC')
    try:
        read = datetime.datetime.fromisoformat(_for_python_3_10(when))
    except ValueError as error:
        raise ValueError(wrong) from error
    return instant(read)


def _for_python_3_10(text: str) -> str:
    """Writes a date as fromisoformat of Python 3.10 reads it: no Z, six digits of a second."""
    text = re.sub(r"Z$", "+00:00", text)
    text = re.sub(r"([+-]\d\d)(\d\d)$", r"\1:\2", text) if "T" in text or " " in text else text
    return re.sub(r"\.(\d+)", lambda part: "." + part[1][:6].ljust(6, "0"), text)
