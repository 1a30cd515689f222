"""Fetch a file from a public address, or raise one kind of error with the reason."""

from __future__ import annotations

import http.client
import io
import urllib.request

from certselect.progress import report

MOST_BYTES = 1 << 26  # the largest of the eight downloads has less than a tenth of it
_AT_ONCE = 1 << 16


def fetch(address: str, *, timeout: float = 30.0, most_bytes: int = MOST_BYTES) -> bytes:
    """The whole file at an http or https address.

    Parameters
    ----------
    address : str
    timeout : float
        Seconds the other side may be silent.
    most_bytes : int
        More is refused.

    Raises
    ------
    OSError
        If it cannot be had whole, with the reason.
    """
    request = urllib.request.Request(address, headers={"User-Agent": "certselect"})
    received = io.BytesIO()
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            stated = answer.headers.get("Content-Length", "")
            expected = int(stated) if stated.isdecimal() else None
            while piece := answer.read(_AT_ONCE):
                received.write(piece)
                done = received.tell()
                if done > most_bytes:
                    raise OSError(f"more than {most_bytes} bytes")
                report("download", done, max(done, expected or 0))
    except http.client.HTTPException as error:
        raise OSError(f"the answer broke off ({error!r})") from None
    if expected is not None and received.tell() != expected:
        raise OSError(f"the answer broke off after {received.tell()} of {expected} bytes")
    return received.getvalue()
