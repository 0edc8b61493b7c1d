"""Sanitise untrusted text for display: no control characters and no changes of writing direction."""

from __future__ import annotations

import re

MOST = 80  # shown characters of a name

# control characters except line feed, line and paragraph separators, direction marks, lone surrogates
_UNSEEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: object) -> str:
    r"""Escape characters that are invisible or change the display.

    >>> visible("\x1b[31mred"), visible("a\u202eb")
    ('\\x1b[31mred', 'a\\u202eb')
    """
    return _UNSEEN.sub(lambda match: match[0].encode("unicode_escape").decode(), str(text))


def short(name: object) -> str:
    """Return a name or value for display: escaped, on one line, and shortened if long.

    >>> short("x" * 1000)[-30:]
    'xxxxxxx... (1,000 characters)'
    """
    text = str(name)
    shown = visible(text[:MOST]).replace("\n", "\\n")
    return shown if len(text) <= MOST else f"{shown[: MOST // 2]}... ({len(text):,} characters)"
