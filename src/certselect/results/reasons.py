"""What is wrong with a result, in words that fit one line, whatever stands in the file."""

from __future__ import annotations

from certselect.errors import InvalidInput
from certselect.names import harmless

LONGEST = 240  # characters of a reason
_LONGEST_GOT, _LONGEST_EXPECTED = 80, 110
MOST = 5  # reasons that are told


def one_line(text: str, longest: int = LONGEST) -> str:
    r"""The text, shortened, with escapes in place of what a terminal might obey.

    >>> one_line("a\x1b[2Jb\n")
    'a\\x1b[2Jb\\n'
    """
    safe = harmless(text[: 2 * longest])
    return safe if len(safe) <= longest else safe[: longest - 3] + "..."


def why(error: BaseException) -> str:
    """What an error says, without the remedy: what is wrong with a file is not mended by those who check it."""
    if isinstance(error, InvalidInput):
        return f"Got {one_line(error.got, _LONGEST_GOT)}; expected {one_line(error.expected, _LONGEST_EXPECTED)}"
    return one_line(str(error) or type(error).__name__)
