"""Text of strangers, made fit to be shown: nothing in it is obeyed by a terminal or turns lines around."""

from __future__ import annotations

import re

MOST = 80  # characters of a name that are shown

# control characters but the line feed, line and paragraph separators, marks of direction, lone surrogates
_UNSEEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: object) -> str:
    r"""Spell out characters that would not be seen.

    >>> visible("\x1b[31mred"), visible("a\u202eb")
    ('\\x1b[31mred', 'a\\u202eb')
    """
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), str(text))


def short(name: object) -> str:
    """Return a name or value as it is shown: visible, on one line, and cut if it is very long.

    >>> short("x" * 1000)[-30:]
    'xxxxxxx... (1,000 characters)'
    """
    text = str(name)
    said = visible(text[:MOST]).replace("\n", "\\n")
    return said if len(text) <= MOST else f"{said[: MOST // 2]}... ({len(text):,} characters)"
