"""Durations, written as in all languages that DuskDB has a package for."""

from __future__ import annotations

import datetime
import re

_UNITS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
_PART = re.compile(r"\s*(\d+(?:\.\d+)?)(ms|d|h|m|s)\s*")


def milliseconds(
    duration: str | datetime.timedelta | None = None,
    *,
    days: float = 0,
    hours: float = 0,
    minutes: float = 0,
    seconds: float = 0,
    milliseconds: float = 0,
) -> int:
    """Returns a duration in milliseconds: "61m", "1h30m", a timedelta, or hours=1, minutes=1.

    A number without a unit is refused: other languages would read it in another unit.
    """
    parts = datetime.timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds, milliseconds=milliseconds)
    if isinstance(duration, str):
        total = datetime.timedelta(milliseconds=_parse(duration)) + parts
    elif isinstance(duration, datetime.timedelta):
        total = duration + parts
    elif duration is None:
        total = parts
    else:
        raise TypeError(f'{duration!r} has no unit: write "{duration}s" or seconds={duration}')
    whole, rest = divmod(total, datetime.timedelta(milliseconds=1))
    if rest:
        raise ValueError(f"{total} is no whole number of milliseconds")
    return whole


def _parse(text: str) -> float:
    total, end = 0.0, 0
    for part in _PART.finditer(text):
        if part.start() != end:
            break
        total += float(part[1]) * _UNITS[part[2]]
        end = part.end()
    if end == 0 or end != len(text):
        raise ValueError(f'"{text}" is no duration like "61m", "1h30m", "90s", "1500ms" or "2d"')
    return total
