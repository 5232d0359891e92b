"""Dates: a datetime, or a text in ISO 8601."""

from __future__ import annotations

import datetime
import re

_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")


def instant(when: datetime.datetime | str) -> datetime.datetime:
    """Returns the datetime that an argument stands for. Without a time zone it is in UTC."""
    if isinstance(when, datetime.datetime):
        return when if when.tzinfo else when.replace(tzinfo=datetime.timezone.utc)
    wrong = f'{when!r} is no date: give a datetime, or a text such as "2026-01-01T00:00:00Z"'
    if not isinstance(when, str):
        raise TypeError(wrong)
    if not _ISO.fullmatch(when):
        raise ValueError(wrong)
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
