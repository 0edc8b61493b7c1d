# ruff: noqa: E501, DTZ001, a table with one case per line
"""Files as people send them: what is read, and what is said about it."""

import datetime as dt

import numpy as np
import pytest

from crosscut import TreeClassifier
from crosscut.data.files import read_file, reading_of
from crosscut.data.source import Source

DAY = dt.date
NBSP = "\u00a0"

# text, columns as read, what is said (nothing: as in a plain file)
PLAIN = {"a": [1, 2], "b": ["x", "y"]}
AWKWARD = {
    # separators
    "commas": ("a,b\n1,x\n2,y\n", PLAIN, ""),
    "semicolons": ("a;b\n1;x\n2;y\n", PLAIN, "';' separated"),
    "tabs": ("a\tb\n1\tx\n2\ty\n", PLAIN, "tab separated"),
    "bars": ("a|b\n1|x\n2|y\n", PLAIN, "'|' separated"),
    "spaces": ("a b\n1 x\n2 y\n", PLAIN, "space separated"),
    "aligned with spaces": ("  a   b\n  1   x\n 22   y\n", {"a": [1, 22], "b": ["x", "y"]}, "space separated"),
    "Excel's first line": ("sep=;\na;b\n1;x\n2;y\n", PLAIN, "';' separated"),
    "commas in quotes": ('a;b\n1;"x, z, w"\n2;"y, z, w"\n', {"a": [1, 2], "b": ["x, z, w", "y, z, w"]}, "';'"),
    "separators in names": ("size, in m;b\n1;x\n2;y\n", {"size, in m": [1, 2], "b": ["x", "y"]}, "';'"),
    "no line end": ("a,b\n1,x\n2,y", PLAIN, ""),
    "Windows line ends": ("a,b\r\n1,x\r\n2,y\r\n", PLAIN, ""),
    "line break in a value": ('a,b\n1,"x\nz"\n2,y\n', {"a": [1, 2], "b": ["x\nz", "y"]}, ""),
    "line break in a name": ('a,"b\nc"\n1,x\n2,y\n', {"a": [1, 2], "b\nc": ["x", "y"]}, ""),
    "quotes in quotes": ('a,b\n1,"x ""z"""\n2,y\n', {"a": [1, 2], "b": ['x "z"', "y"]}, ""),
    "single quotes": ("a,b\n1,'x, z'\n2,'y'\n", {"a": [1, 2], "b": ["x, z", "y"]}, "' as quote"),
    "apostrophes": ("a,b\n1,'s Hertogenbosch\n2,y\n", {"a": [1, 2], "b": ["'s Hertogenbosch", "y"]}, ""),
    "all in quotes": ('"a","b"\n"1","x"\n"2","y"\n', PLAIN, ""),
    # encodings
    "UTF-8 with a mark": ("a,b\n1,x\n2,y\n".encode("utf-8-sig"), PLAIN, ""),
    "UTF-16": ("a,b\n1,x\n2,y\n".encode("utf-16"), PLAIN, "UTF-16"),
    "UTF-16, big end first": (b"\xfe\xff" + "a,b\n1,x\n2,ü\n".encode("utf-16-be"), {"a": [1, 2], "b": ["x", "ü"]}, "UTF-16"),
    "UTF-16 without a mark": ("a,b\n1,x\n2,y\n".encode("utf-16-le"), PLAIN, "utf-16-le"),
    "Latin-1": ("a,b\n1,Köln\n2,y\n".encode("latin-1"), {"a": [1, 2], "b": ["Köln", "y"]}, "Windows-1252"),
    "Windows": ("a,b\n1,5 €\n2,“y”\n".encode("cp1252"), {"a": [1, 2], "b": ["5 €", "“y”"]}, "Windows-1252"),
    "late Latin-1": (b"a,b\n" + b"1,x\n" * 90_000 + b"2,K\xf6ln\n", None, "Windows-1252"),
    "names in Latin-1": ("Größe,b\n1,x\n2,y\n".encode("latin-1"), {"Größe": [1, 2], "b": ["x", "y"]}, "Windows"),
    # header or not
    "no header": ("6,148,yes\n1,85,no\n8,183,yes\n", {"c1": [6, 1, 8], "c2": [148, 85, 183], "c3": ["yes", "no", "yes"]}, "no header (columns c1 to c3)"),
    "no header, repeated numbers": ("1,1,1\n0,0,1\n", {"c1": [1, 0], "c2": [1, 0], "c3": [1, 1]}, "no header"),
    "no header, text only": ("p,x,s\ne,x,s\np,b,y\n", {"c1": ["p", "e", "p"], "c2": ["x", "x", "b"], "c3": ["s", "s", "y"]}, "no header"),
    "no header, first value missing": ("?,2\n1,3\n4,5\n", {"c1": [None, 1, 4], "c2": [2, 3, 5]}, "no header"),
    "no header, dates": ("31.12.2024,x\n30.11.2024,y\n", {"c1": [DAY(2024, 12, 31), DAY(2024, 11, 30)], "c2": ["x", "y"]}, "no header"),
    "numbers as names": ("0,1,2\n5,7,x\n6,8,y\n", {"0": [5, 6], "1": [7, 8], "2": ["x", "y"]}, ""),
    "years as names": ("land,2019,2020\nx,1.5,2\ny,2.5,3\n", {"land": ["x", "y"], "2019": [1.5, 2.5], "2020": [2, 3]}, ""),
    "text only, with names": ("colour,plan\nred,x\nblue,y\n", {"colour": ["red", "blue"], "plan": ["x", "y"]}, ""),
    "a column without a name": (",b\n1,x\n2,y\n", {"c1": [1, 2], "b": ["x", "y"]}, ""),
    "spaces around names": ("a , b\n1,x\n2,y\n", PLAIN, ""),
    # numbers
    "decimal comma": ("a;b\n1,5;x\n2,25;y\n", {"a": [1.5, 2.25], "b": ["x", "y"]}, "';' separated, decimal comma"),
    "decimal comma in quotes": ('a,b\n"1,5",x\n"2,25",y\n', {"a": [1.5, 2.25], "b": ["x", "y"]}, "decimal comma"),
    "decimal comma without a header": ("1,5;2,5\n3,5;4,5\n", {"c1": [1.5, 3.5], "c2": [2.5, 4.5]}, "decimal comma, no header"),
    "thousands with points": ("a;b\n1.234,5;x\n2,25;y\n", {"a": [1234.5, 2.25], "b": ["x", "y"]}, "thousands as 1.000"),
    "points are thousands by another column": ("a;b\n1.234;1,5\n2.500;2,5\n", {"a": [1234, 2500], "b": [1.5, 2.5]}, "'a': thousands as 1.000"),
    "points are decimals by another column": ("a;b\n1.234;1.5\n2.500;2.5\n", {"a": [1.234, 2.5], "b": [1.5, 2.5]}, "';' separated"),
    "thousands with commas": ('a,b\n"1,234.5",x\n"12,000",y\n', {"a": [1234.5, 12000], "b": ["x", "y"]}, "'a': thousands as 1,000"),
    "whole thousands with commas": ('a,b\n"1,234",x\n"12,000",y\n', {"a": [1234, 12000], "b": ["x", "y"]}, "'a': thousands as 1,000"),
    "lakhs": ('a,b\n"12,34,567",x\n"1,000",y\n', {"a": [1234567, 1000], "b": ["x", "y"]}, "1,000"),
    "thousands with spaces": ("a;b\n1 234,5;x\n2 000;y\n", {"a": [1234.5, 2000], "b": ["x", "y"]}, "thousands as 1 000"),
    "thousands with hard spaces": (f"a;b\n1{NBSP}234,5;x\n2{NBSP}000;y\n", {"a": [1234.5, 2000], "b": ["x", "y"]}, "1 000"),
    "thousands with apostrophes": ("a,b\n1'234.5,x\n2'000,y\n", {"a": [1234.5, 2000], "b": ["x", "y"]}, "1'000"),
    "dollars": ('a,b\n"$1,234.50",x\n$5,y\n', {"a": [1234.5, 5], "b": ["x", "y"]}, "'a': $ and thousands as 1,000"),
    "euros": ("a;b\n1.234,50 €;x\n5 €;y\n", {"a": [1234.5, 5], "b": ["x", "y"]}, "€ and thousands as 1.000"),
    "Swiss francs": ("a,b\nCHF 1'234.50,x\nCHF 5.00,y\n", {"a": [1234.5, 5], "b": ["x", "y"]}, "CHF and thousands as 1'000"),
    "two currencies stay text": ("a,b\n$5,x\n€5,y\n", {"a": ["$5", "€5"], "b": ["x", "y"]}, ""),
    "percent": ("a,b\n12.5%,x\n3 %,y\n", {"a": [12.5, 3], "b": ["x", "y"]}, "'a': percent"),
    "negative": ('a,b\n"(1,234.50)",x\n\u22125,y\n', {"a": [-1234.5, -5], "b": ["x", "y"]}, "thousands"),
    "exponents": ("a;b\n1,5e3;x\n2E-1;y\n", {"a": [1500, 0.2], "b": ["x", "y"]}, "decimal comma"),
    # missing
    "UCI adult": ("39, State-gov, <=50K\n50, ?, >50K\n28, Private, <=50K\n31, Private, <=50K\n", {"c1": [39, 50, 28, 31], "c2": ["State-gov", None, "Private", "Private"], "c3": ["<=50K", ">50K", "<=50K", "<=50K"]}, "spaces around values removed"),
    "question marks among numbers": ("a, b\n1, x\n ?, y\n", {"a": [1, None], "b": ["x", "y"]}, "spaces"),
    "dashes among numbers": ("a,b\n1,x\n-,y\n", {"a": [1, None], "b": ["x", "y"]}, "'-' in 'a' is missing"),
    "dashes among text": ("a,b\n1,x\n2,-\n", {"a": [1, 2], "b": ["x", "-"]}, ""),
    "Excel's errors": ("a,b\n1,x\n#DIV/0!,y\n", {"a": [1, None], "b": ["x", "y"]}, "'#DIV/0!'"),
    "quotes after spaces": ('a, b\n1, "x, z"\n2, "y"\n', {"a": [1, 2], "b": ["x, z", "y"]}, ""),
    # dates
    "ISO": ("a,b\n2024-12-31,x\n2024-01-05,y\n", {"a": [DAY(2024, 12, 31), DAY(2024, 1, 5)], "b": ["x", "y"]}, ""),
    "German": ("a;b\n31.12.2024;x\n5.1.2024;y\n", {"a": [DAY(2024, 12, 31), DAY(2024, 1, 5)], "b": ["x", "y"]}, "'a': dates (day, month, year)"),
    "American": ("a,b\n12/31/2024,x\n1/5/2024,y\n", {"a": [DAY(2024, 12, 31), DAY(2024, 1, 5)], "b": ["x", "y"]}, "'a': dates (month, day, year)"),
    "British": ("a,b\n31/12/2024,x\n05/01/2024,y\n", {"a": [DAY(2024, 12, 31), DAY(2024, 1, 5)], "b": ["x", "y"]}, "(day, month, year)"),
    "Dutch": ("a,b\n31-12-2024,x\n05-01-2024,y\n", {"a": [DAY(2024, 12, 31), DAY(2024, 1, 5)], "b": ["x", "y"]}, "(day, month, year)"),
    "Hungarian": ("a,b\n2024. 12. 31.,x\n2024. 01. 05.,y\n", {"a": [DAY(2024, 12, 31), DAY(2024, 1, 5)], "b": ["x", "y"]}, "(year, month, day)"),
    "Japanese": ("a,b\n2024年12月31日,x\n2024年1月5日,y\n", {"a": [DAY(2024, 12, 31), DAY(2024, 1, 5)], "b": ["x", "y"]}, "(year, month, day)"),
    "English month": ("a,b\n31 Dec 2024,x\n5-Jan-2024,y\n", {"a": [DAY(2024, 12, 31), DAY(2024, 1, 5)], "b": ["x", "y"]}, "dates"),
    "month first": ('a,b\n"December 31, 2024",x\n"Jan 5, 2024",y\n', {"a": [DAY(2024, 12, 31), DAY(2024, 1, 5)], "b": ["x", "y"]}, "dates"),
    "French month": ("a,b\n31 décembre 2024,x\n5 janv. 2024,y\n", {"a": [DAY(2024, 12, 31), DAY(2024, 1, 5)], "b": ["x", "y"]}, "dates"),
    "two-digit years": ("a,b\n31.12.24,x\n05.01.99,y\n", {"a": [DAY(2024, 12, 31), DAY(1999, 1, 5)], "b": ["x", "y"]}, "dates"),
    "time of day": ("a,b\n31.12.2024 23:59,x\n5.1.2024 0:00,y\n", {"a": [dt.datetime(2024, 12, 31, 23, 59), dt.datetime(2024, 1, 5)], "b": ["x", "y"]}, "dates"),
    "a.m. and p.m.": ("a,b\n12/31/2024 11:59 PM,x\n1/5/2024 12:00 AM,y\n", {"a": [dt.datetime(2024, 12, 31, 23, 59), dt.datetime(2024, 1, 5)], "b": ["x", "y"]}, "dates"),
    "order by another column": ("a,b\n03/04/2024,12/31/2024\n05/06/2024,1/2/2024\n", {"a": [DAY(2024, 3, 4), DAY(2024, 5, 6)], "b": [DAY(2024, 12, 31), DAY(2024, 1, 2)]}, "'a', 'b': dates (month"),
    "same either way": ("a,b\n01/01/2024,x\n02/02/2024,y\n", {"a": [DAY(2024, 1, 1), DAY(2024, 2, 2)], "b": ["x", "y"]}, "dates"),
    "missing dates": ("a,b\n31.12.2024,x\n-,y\n", {"a": [DAY(2024, 12, 31), None], "b": ["x", "y"]}, "'-' in 'a' is missing"),
    "no such day": ("a,b\n31.02.2024,x\n01.02.2024,y\n", {"a": ["31.02.2024", "01.02.2024"], "b": ["x", "y"]}, ""),
    "versions are no dates": ("a,b\n1.2.3,x\n1.10.12.4,y\n", {"a": ["1.2.3", "1.10.12.4"], "b": ["x", "y"]}, ""),
}  # fmt: skip


def written(folder, text, name="rows.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("case", AWKWARD)
def test_what_is_read_and_said(tmp_path, case):
    text, expected, said = AWKWARD[case]
    path = written(tmp_path, text)
    whole = read_file(path)
    if expected is not None:
        assert whole.to_pydict() == expected
    assert said in reading_of(whole)
    assert bool(said) == bool(reading_of(whole))
    source = Source(path, batch_rows=1 if whole.num_rows < 100 else 10_000)  # a stream reads the same
    tables = [table for piece in source.pieces for _, table in source.read(piece)]
    assert source.schema.equals(whole.schema)
    assert [row for table in tables for row in table.to_pylist()] == whole.to_pylist()


AMBIGUOUS = {
    "days and months": ("a,b\n03/04/2024,x\n05/06/2024,y\n", "'03/04/2024' is 3 April 2024 or 4 March 2024; .* dates='dmy' or dates='mdy'"),
    "points": ("a;b\n1.234;x\n2.500;y\n", "'1.234' is 1.234 or 1234; choose with decimal='.' or decimal=','"),
    "commas": ("a;b\n1,234;x\n2,500;y\n", "'1,234' is 1234 or 1.234"),
}  # fmt: skip


@pytest.mark.parametrize("case", AMBIGUOUS)
def test_two_readings_are_an_error_that_shows_both(tmp_path, case):
    text, message = AMBIGUOUS[case]
    path = written(tmp_path, text)
    with pytest.raises(ValueError, match=f"rows.csv: column 'a' can be read in two ways: {message}"):
        read_file(path)
    with pytest.raises(ValueError, match="two ways"):
        Source(path)


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("a,b\n03/04/2024,x\n", {"dates": "dmy"}, {"a": [DAY(2024, 4, 3)], "b": ["x"]}),
        ("a,b\n03/04/2024,x\n", {"dates": "mdy"}, {"a": [DAY(2024, 3, 4)], "b": ["x"]}),
        ("a,b\n03/04/2024,x\n", {"dates": "none"}, {"a": ["03/04/2024"], "b": ["x"]}),
        ("a,b\nD20241231,x\n", {"dates": "D%Y%m%d"}, {"a": [DAY(2024, 12, 31)], "b": ["x"]}),
        ("a;b\n1.234;x\n", {"decimal": "."}, {"a": [1.234], "b": ["x"]}),
        ("a;b\n1.234;x\n", {"decimal": "comma"}, {"a": [1234.0], "b": ["x"]}),
        ("a,b\n1,x\n", {"header": False}, {"c1": ["a", "1"], "c2": ["b", "x"]}),
        ("1,2\n3,4\n", {"header": True}, {"1": [3], "2": [4]}),
        ("a b,c\n1 2,3\n", {"separator": "space"}, {"a": [1], "b,c": [2.3]}),
        (
            "a,b\n-999,x\n2,none of it\n",
            {"missing": ["-999", "none of it"]},
            {"a": [None, 2], "b": ["x", None]},
        ),
        ("a,b\n1,ż\n".encode("cp1250"), {"encoding": "cp1250"}, {"a": [1], "b": ["ż"]}),
    ],
)
def test_options(tmp_path, text, options, expected):
    assert read_file(written(tmp_path, text), **options).to_pydict() == expected


@pytest.mark.parametrize(
    "options", [{"separator": "||"}, {"decimal": "x"}, {"dates": "american"}, {"encoding": "klingon"}]
)
def test_options_that_mean_nothing(tmp_path, options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} must be"):
        read_file(written(tmp_path, "a,b\n1,x\n"), **options)


def test_what_is_not_text(tmp_path):
    with pytest.raises(ValueError, match="not text"):
        read_file(written(tmp_path, bytes(range(256)) * 9))


NATIONS = {  # thousands, decimal mark, date
    "American": (",", ".", "%m/%d/%Y"),
    "British": (",", ".", "%d/%m/%Y"),
    "German": (".", ",", "%d.%m.%Y"),
    "French": ("\u202f", ",", "%d/%m/%Y"),
    "Swiss": ("'", ".", "%d.%m.%Y"),
    "Swedish": ("\u00a0", ",", "%Y-%m-%d"),
}
N_ROWS = 60


def national(nation, separator):
    thousands, decimal, pattern = NATIONS[nation]
    draw = np.random.default_rng(5)
    pay, day, town = (
        draw.uniform(500, 9000, N_ROWS),
        draw.integers(0, 900, N_ROWS),
        draw.integers(0, 3, N_ROWS),
    )
    lines = []
    for amount, n, t in zip(pay.round(2), day, town, strict=True):
        whole, _, fraction = f"{amount:,.2f}".partition(".")
        cells = [
            whole.replace(",", thousands) + decimal + fraction,
            (dt.date(2022, 1, 1) + dt.timedelta(int(n))).strftime(pattern),
            ["Köln", "Zürich", "Malmö"][t],
            "yes" if (amount > 4000) ^ (n > 500) or t == 2 else "no",
        ]
        quoted = (f'"{cell}"' if separator in cell or "'" in cell else cell for cell in cells)
        lines.append(separator.join(quoted))
    return "\n".join([separator.join(["pay", "since", "town", "y"]), *lines, ""])


def tree_of(path):
    table = read_file(path)
    model = TreeClassifier(cv=None).fit(table.drop_columns(["y"]), table["y"].to_pylist())
    return model.tree_


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    text = national("Swedish", ";").replace("\u00a0", "").replace(",", ".").replace(";", ",")
    return tree_of(written(tmp_path_factory.mktemp("clean"), text))


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("nation", NATIONS)
def test_national_forms_give_the_tree_of_the_clean_file(tmp_path, clean, nation, encoding, separator):
    text = national(nation, separator)
    if encoding == "cp1252":
        text = text.replace("\u202f", "\u00a0")  # Windows has one kind of hard space
    assert tree_of(written(tmp_path, text.encode(encoding))).equals(clean)
