"""Forms of numbers and dates in text: national marks, currencies, percent, order of day and month."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

# words that mean a missing value among numbers or dates; elsewhere they may be categories
MISSING_AMONG_NUMBERS = frozenset(
    (
        *("-", "--", "---", "\u2013", "\u2014", ".", "..", "...", "*"),
        *("n.a.", "N.A.", "n.a", "na", "Na", "n/d", "N/D", "ND", "nd", "k.A.", "k. A.", "s/d"),
        *("#VALUE!", "#DIV/0!", "#REF!", "#NUM!", "#NAME?"),
        *("missing", "Missing", "MISSING", "(null)", "\\N", "<NA>", "NaT", "nil", "none", "NONE", "Null"),
    )
)
BLANKS = " \t\u00a0\u2009\u202f"
_MARKS_ALIKE = str.maketrans(dict.fromkeys(BLANKS, " ") | {"\u2019": "'"})
_CURRENCY = (
    r"R\$|US\$|A\$|C\$|[$€£¥₹₽₩₺₫₴₪฿]|USD|EUR|GBP|CHF|JPY|CNY|INR|BRL|SEK|NOK|DKK|PLN|CZK|Fr\.|kr\.?|Kč|zł|Ft"
)
_NUMBER = re.compile(
    rf"(?P<sign>[-+\u2212(]?)[{BLANKS}]*(?P<before>{_CURRENCY})?[{BLANKS}]*(?P<inner>[-+\u2212]?)"
    rf"(?P<digits>[.,]?\d(?:[\d.,'\u2019{BLANKS}]*\d)?[.,]?)(?P<exponent>[eE][-+]?\d+)?"
    rf"[{BLANKS}]*(?P<after>{_CURRENCY}|%)?(?P<close>[-)]?)"
)
_TIME = r"(?:[T\s,]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,6}))?)?\s*([AaPp]\.?[Mm]\.?)?)?"
_MARKED = re.compile(rf"(\d{{1,4}})([./\-年])\s?(\d{{1,2}})([./\-月])\s?(\d{{1,4}})日?\.?{_TIME}")
_DAY_NAME = re.compile(
    rf"(\d{{1,2}})(?:\.|st|nd|rd|th)?[\s\-/]*(?:de\s+)?([^\W\d_]{{3,}})\.?,?[\s\-/]*(?:de\s+)?(\d{{4}}){_TIME}"
)
_NAME_DAY = re.compile(rf"([^\W\d_]{{3,}})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}}){_TIME}")
_MONTHS = (  # English, German, French, Spanish, Italian, Portuguese, Dutch
    "january januar janvier enero gennaio janeiro januari jänner",
    "february februar février fevrier febrero febbraio fevereiro februari",
    "march märz maerz mars marzo março marco maart mrz mrt",
    "april avril abril aprile",
    "may mai mayo maggio maio mei",
    "june juni juin junio giugno junho",
    "july juli juillet julio luglio julho",
    "august août aout agosto augustus",
    "september septembre septiembre settembre setembro",
    "october oktober octobre octubre ottobre outubro",
    "november novembre noviembre novembro",
    "december dezember décembre decembre diciembre dicembre dezembro",
)
_FIRST_TWO_DIGIT_YEAR = 69  # 1969; lower numbers are years from 2000 on, as in POSIX
NAMES = {"dmy": "day, month, year", "mdy": "month, day, year", "ymd": "year, month, day"}


@dataclass(frozen=True)
class NumberForm:
    """Numbers with a decimal mark, a thousands separator, and a common unit.

    >>> NumberForm(",", ".", "€").value("-1.234,50 €"), NumberForm(".", ",").value("1,5")
    (-1234.5, None)
    """

    decimal: str = "."
    thousands: str = ","
    unit: str = ""
    arrow_type = pa.float64()

    def value(self, text: str) -> float | None:
        """Return the number; None if the text has another form."""
        match = _NUMBER.fullmatch(text)
        if match is None or self.unit != (match["before"] or match["after"] or ""):
            return None
        if (match["before"] and match["after"]) or (match["sign"] == "(") != (match["close"] == ")"):
            return None
        whole, _, fraction = match["digits"].partition(self.decimal)
        whole = whole.translate(_MARKS_ALIKE)
        if self.thousands and self.thousands in whole:
            pairs = r"(?:,\d\d)*" if self.thousands == "," else ""  # 12,34,567 in India
            if not re.fullmatch(
                rf"[1-9]\d{{0,2}}(?:{re.escape(self.thousands)}\d{{3}})+|[1-9]\d?{pairs},\d{{3}}", whole
            ):
                return None
            whole = whole.replace(self.thousands, "")
        if (
            (whole and not whole.isdecimal())
            or (fraction and not fraction.isdecimal())
            or not whole + fraction
        ):
            return None
        number = float(f"{whole or 0}.{fraction or 0}{match['exponent'] or ''}")
        signs = (
            match["sign"] in {"-", "\u2212", "("},
            match["inner"] in {"-", "\u2212"},
            match["close"] == "-",
        )
        return -number if sum(signs) % 2 else number

    @property
    def description(self) -> str:
        """How numbers of this form are written, for users."""
        thousands = {"": "", ".": "1.000", ",": "1,000", "'": "1'000", " ": "1 000"}[self.thousands]
        unit = "percent (5% is 5)" if self.unit == "%" else self.unit
        return " and ".join(filter(None, [unit, thousands and f"thousands as {thousands}"]))


@dataclass(frozen=True)
class DateForm:
    """Dates with a fixed order of day, month and year, with or without a time of day.

    >>> DateForm("dmy").value("31.12.2024"), DateForm("mdy").value("31/12/2024")
    (datetime.datetime(2024, 12, 31, 0, 0), None)
    """

    order: str
    timed: bool = False

    def value(self, text: str) -> dt.datetime | None:
        """Return the time; None if the text has another form or the day does not exist."""
        parts = _parts(text, self.order)
        if parts is None:
            return None
        year, month, day, hour, minute, second, fraction, half = parts
        hours = int(hour or 0)
        if half:
            hours = hours % 12 + (12 if half[0] in "pP" else 0) if 1 <= hours <= 12 else 99
        try:
            return dt.datetime(  # noqa: DTZ001, dates in files have no zone
                year,
                month,
                day,
                hours,
                int(minute or 0),
                int(second or 0),
                int((fraction or "").ljust(6, "0")),
            )
        except ValueError:
            return None

    @property
    def arrow_type(self) -> pa.DataType:
        """Type of the column."""
        return pa.timestamp("us") if self.timed else pa.date32()

    @property
    def description(self) -> str:
        """How dates of this form are written, for users."""
        return f"dates ({NAMES[self.order]})"


@dataclass(frozen=True)
class PatternForm:
    """Dates that match a pattern of :func:`time.strptime`."""

    pattern: str

    def value(self, text: str) -> dt.datetime | None:
        """Return the time; None if the text has another form."""
        try:
            return dt.datetime.strptime(text, self.pattern)  # noqa: DTZ007, dates in files have no zone
        except ValueError:
            return None

    @property
    def arrow_type(self) -> pa.DataType:
        """Type of the column."""
        return pa.timestamp("us") if "%H" in self.pattern or "%I" in self.pattern else pa.date32()

    @property
    def description(self) -> str:
        """How dates of this form are written, for users."""
        return f"dates ({self.pattern})"


@dataclass(frozen=True)
class TextForm:
    """Text whose leading and trailing spaces are removed."""

    arrow_type = pa.string()
    description = ""

    def value(self, text: str) -> str:
        """Return the text."""
        return text


Form = NumberForm | DateForm | PatternForm | TextForm
SHAPE = str.maketrans("123456789", "9" * 9)  # only the shape of a number matters for its form
MARKS = ((".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))  # decimal, thousands
DATES = tuple(map(DateForm, NAMES))


def unit_of(text: str) -> str | None:
    """Return the currency of a number, "%" or ""; None if the text is not a number."""
    match = _NUMBER.fullmatch(text)
    return None if match is None else match["before"] or match["after"] or ""


def _parts(text: str, order: str) -> tuple[Any, ...] | None:
    """Return year, month and day of a date, and the parts of its time as text."""
    match = _MARKED.fullmatch(text)
    if match is not None:
        a, mark, b, second_mark, c = match.groups()[:5]
        if (mark, second_mark) not in {("年", "月"), (".", "."), ("/", "/"), ("-", "-")}:
            return None
        if order not in _orders(a, mark, c):
            return None
        at = {letter: int(part) for letter, part in zip(order, (a, b, c), strict=True)}
        year = at["y"]
        if len(a) < 4 and len(c) < 4:
            year += 1900 if year >= _FIRST_TWO_DIGIT_YEAR else 2000
        return year, at["m"], at["d"], *match.groups()[5:]
    match = _DAY_NAME.fullmatch(text)
    if match is not None:
        day, name, year_text = match.groups()[:3]
    else:
        match = _NAME_DAY.fullmatch(text)
        if match is None:
            return None
        name, day, year_text = match.groups()[:3]
    months = {
        m for m, names in enumerate(_MONTHS, 1) if any(n.startswith(name.lower()) for n in names.split())
    }
    return (int(year_text), months.pop(), int(day), *match.groups()[3:]) if len(months) == 1 else None


def _orders(a: str, mark: str, c: str) -> tuple[str, ...]:
    """Return the possible orders of a date's parts, by the position of its year and its marks."""
    if len(a) == 4:
        return ("ymd",) if len(c) < 3 else ()
    if len(c) == 4 and len(a) < 3:
        return ("dmy",) if mark == "." else ("dmy", "mdy")
    if len(a) > 2 or len(c) != 2:
        return ()
    if len(a) == 2 and mark == "-":
        return ("dmy", "mdy", "ymd")
    return {".": ("dmy",), "/": ("dmy", "mdy"), "-": ("dmy", "mdy")}.get(mark, ())
