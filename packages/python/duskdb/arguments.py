"""What the arguments of a server must be."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping


def check_flags(flags: tuple[object, ...]) -> None:
    """Refuses flags that are no texts."""
    for flag in flags:
        if not isinstance(flag, str):
            raise TypeError(f"the flags of duskdb must be texts, not {flag!r}")


def check_text(name: str, kind: str, value: object) -> None:
    """Refuses what is no text, or an empty one; None is not given."""
    if value is None:
        return
    wrong = f"{name} must be {kind}, not {value!r}"
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(wrong)
    if not os.fspath(value):
        raise ValueError(wrong)


def check_parameters(parameters: object) -> None:
    """Refuses what are no names and values of server parameters; None are none."""
    if parameters is None:
        return
    if not isinstance(parameters, Mapping) or not all(
        isinstance(name, str) and isinstance(value, (str, int, float)) for name, value in parameters.items()
    ):
        raise TypeError(f'parameters must be a dict such as {{"ttlMonitorSleepSecs": 1}}, not {parameters!r}')


def check_timeout(timeout: object) -> None:
    """Refuses what is no time that a start may take."""
    wrong = f"launch_timeout must be a number of seconds greater than 0, not {timeout!r}"
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        raise TypeError(wrong)
    if not 0 < timeout <= threading.TIMEOUT_MAX:
        raise ValueError(wrong)
