"""Dates, times and durations -> numbers: seconds, since 1970 for dates."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from certselect.errors import InvalidInput, keyword

TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
# Arrow's months, days and nanoseconds: named, not imported.
_INTERVAL = "MonthDayNano"
_EPOCH = datetime.datetime(1970, 1, 1)
_SECOND = np.timedelta64(1, "s")
_LONGEST = 40  # characters of a text that may be a date
# How people write dates, besides ISO 8601; of two that fit all values of a column the first is taken.
_DAYS = ("%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y", "%m/%d/%y", "%d/%m/%y", "%d.%m.%y")
_NAMED = ("%d %b %Y", "%d-%b-%Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y")
_FORMATS = (*_DAYS, *_NAMED)
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
_TIMES_OF_DAY = ("%H:%M", "%H:%M:%S")


def array_of_times(values: np.ndarray) -> np.ndarray:
    """NumPy's dates or durations as seconds, NaN for those that are none."""
    since = values - np.datetime64(0, "s") if values.dtype.kind == "M" else values
    try:
        return np.where(np.isnat(values), np.nan, since / _SECOND)
    except TypeError:
        raise InvalidInput(
            f"durations of type {values.dtype}", "durations that are so many seconds", "Months and years are not."
        ) from None


def is_time(kind: type) -> bool:
    """Whether values of a type are dates, times, durations or intervals."""
    return issubclass(kind, TIMES) or kind.__name__ == _INTERVAL


def seconds_of(values: Sequence[Any], where: str) -> np.ndarray:
    """Python's, NumPy's or pandas' dates, times of day or durations, none of them missing, as seconds."""
    if len({_family(value) for value in values}) > 1:
        raise InvalidInput(
            f"dates, times and durations mixed in {where}", "one of these in a column", "Make columns of their own."
        )
    return np.array([_seconds(_duration_of(value, where)) for value in values])


def _duration_of(value: Any, where: str) -> Any:
    """An interval without months as a duration; other values as they are."""
    if type(value).__name__ != _INTERVAL:
        return value
    if value.months:
        raise InvalidInput(
            f"intervals with months or years in {where}",
            "durations that are so many seconds",
            "Convert them to days where the table is written, "
            f"or leave that column out by {keyword('exclude', spelled='')}.",
        )
    return datetime.timedelta(days=value.days, microseconds=value.nanoseconds / 1000)


def series_of_times(series: Any, where: str) -> tuple[np.ndarray, np.ndarray]:
    """A data frame's column of dates, times or durations as seconds, and which cells are missing."""
    import narwhals as nw

    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    seconds = np.full(len(series), np.nan)
    if series.dtype == nw.Datetime:
        stamps = series.dt.timestamp("us").fill_null(0).to_numpy()
        seconds[~missing] = stamps[~missing].astype(np.float64) / 1e6
    else:
        present = [value for value, absent in zip(series.to_list(), missing, strict=True) if not absent]
        seconds[~missing] = seconds_of(present, where)
    return seconds, missing


def dates_in_text(texts: Iterable[object]) -> tuple[list[float], dict[str, str]] | None:
    """The seconds of texts that are dates, all written in one way, and how if it is not ISO 8601 or a time of day.

    None if they are not dates.
    """
    listed = list(texts)
    first = listed[0] if listed else None
    if not isinstance(first, str) or not any(mark in first for mark in "-/. :") or len(first) > _LONGEST:
        return None
    iso = _read_all(listed, _from_iso)
    if iso is not None:
        return iso, {}
    for form in _TIMES_OF_DAY:
        found = _read_all(listed, lambda text, form=form: datetime.datetime.strptime(text, form).time())
        if found is not None:
            return found, {}
    for date in _FORMATS:
        for clock in _CLOCKS:
            form = date + clock
            found = _read_all(listed, lambda text, form=form: datetime.datetime.strptime(text, form))
            if found is not None:
                return found, {"written": _in_words(date)}
    return None


def _read_all(texts: list[object], read: Callable[[str], datetime.datetime | datetime.time]) -> list[float] | None:
    found: list[float] = []
    for text in texts:
        if not isinstance(text, str) or len(text) > _LONGEST:
            return None
        try:
            found.append(_seconds(read(text.strip())))
        except (ValueError, TypeError, OverflowError):
            return None
    return found


def _from_iso(text: str) -> datetime.datetime:
    if text[4:5] != "-":  # "20240131" may be any number
        raise ValueError
    return datetime.datetime.fromisoformat(text)


def _in_words(form: str) -> str:
    names = {"m": "month", "b": "month", "B": "month", "d": "day", "Y": "year", "y": "year"}
    return "/".join(names[letter] for letter in form if letter in names)


def _family(value: Any) -> str:
    if isinstance(value, datetime.timedelta | np.timedelta64) or type(value).__name__ == _INTERVAL:
        return "duration"
    return "time" if isinstance(value, datetime.time) else "date"


def _seconds(value: Any) -> float:
    if isinstance(value, np.datetime64 | np.timedelta64):
        return float(array_of_times(np.asarray(value)))
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, datetime.time):
        return value.hour * 3600.0 + value.minute * 60.0 + value.second + value.microsecond / 1e6
    if not isinstance(value, datetime.datetime):
        return (value - _EPOCH.date()).days * 86400.0
    since = _EPOCH if value.tzinfo is None else _EPOCH.replace(tzinfo=datetime.UTC)
    return (value - since).total_seconds()
