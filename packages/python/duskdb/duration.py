"""Durations, written as in all languages that DuskDB has a package for."""

from __future__ import annotations

import datetime
import difflib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from typing_extensions import Unpack

_UNITS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
_PART = re.compile(r"\s*(\d+(?:\.\d+)?)(ms|d|h|m|s)\s*")
_MAX_DAYS = 2_900_000  # about as far as the clock goes: to the end of the year 9999


class Parts(TypedDict, total=False):
    """A duration in parts: hours=1, minutes=1."""

    days: float
    hours: float
    minutes: float
    seconds: float
    milliseconds: float


_NAMES = tuple(Parts.__annotations__)
_TAKES = 'a duration such as "61m", a timedelta, or ' + ", ".join(_NAMES)


def milliseconds(duration: str | datetime.timedelta | None = None, **parts: Unpack[Parts]) -> int:
    """Returns a duration in milliseconds: "61m", "1h30m", a timedelta, or hours=1, minutes=1.

    A number without a unit is refused: other languages would read it in another unit.
    """
    return read("milliseconds", duration, parts)


def read(caller: str, duration: object, parts: Mapping[str, object]) -> int:
    """Returns what the arguments of a function mean, in milliseconds."""
    if duration is None and not parts:
        raise TypeError(f"{caller} needs {_TAKES}")
    try:
        total = _whole(caller, duration) + _sum(caller, parts)
    except OverflowError:
        total = datetime.timedelta.max
    if total.days < 0:
        raise ValueError(f"{total} is negative: the clock moves forward only")
    if total > datetime.timedelta(days=_MAX_DAYS):
        raise ValueError(f"{_quoted(duration, parts, 'the duration')} is longer than {_MAX_DAYS} days")
    milliseconds, rest = divmod(total, datetime.timedelta(milliseconds=1))
    if rest:
        raise ValueError(f"{_quoted(duration, parts, total)} is no whole number of milliseconds")
    return milliseconds


def _quoted(duration: object, parts: Mapping[str, object], otherwise: object) -> str:
    return f'"{duration}"' if isinstance(duration, str) and not parts else str(otherwise)


def _whole(caller: str, duration: object) -> datetime.timedelta:
    """Reads a duration that is one argument."""
    if duration is None:
        return datetime.timedelta()
    if isinstance(duration, str):
        return datetime.timedelta(milliseconds=_parse(duration))
    if isinstance(duration, datetime.timedelta):
        return duration
    if isinstance(duration, (int, float)) and not isinstance(duration, bool):
        raise TypeError(f'{duration!r} has no unit: write "{duration}s" or seconds={duration}')
    raise TypeError(f'{duration!r} is no duration: {caller} takes a text such as "61m", a timedelta, or {", ".join(_NAMES)}')


def _sum(caller: str, parts: Mapping[str, object]) -> datetime.timedelta:
    """Adds the arguments with a name."""
    total = datetime.timedelta()
    for name, value in parts.items():
        if name not in _NAMES:
            meant = difflib.get_close_matches(name, _NAMES, 1)
            raise TypeError(f"{caller} has no argument {name}; " + (f"did you mean {meant[0]}?" if meant else f"it takes {_TAKES}"))
        wrong = f"{name} is {value!r}, not a number that is at least 0"
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(wrong)
        if not value >= 0:  # or not a number
            raise ValueError(wrong)
        total += datetime.timedelta(**{name: value})
    return total


def _parse(text: str) -> float:
    if text.lstrip().startswith("-"):
        raise ValueError(f'"{text}" is negative: the clock moves forward only')
    total, end = 0.0, 0
    for part in _PART.finditer(text):
        if part.start() != end:
            break
        total += float(part[1]) * _UNITS[part[2]]
        end = part.end()
    if end == 0 or end != len(text):
        raise ValueError(f'"{text}" is no duration like "61m", "1h30m", "90s", "1500ms" or "2d"')
    return total
