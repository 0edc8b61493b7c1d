import pytest

from crosscut.data.visible import short, visible


@pytest.mark.parametrize("text", ["\x1b[2J", "a\rb", "x\u202ey", "\u2066", "\x9b31m", "\udc80"])
def test_what_a_terminal_obeys_is_spelled_out(text):
    assert visible(text).isascii()
    assert visible(text).isprintable()


@pytest.mark.parametrize("text", ["naïve", "日本語", "a\u00a0b", "👩\u200d🚀", "two\nlines"])
def test_other_text_stays(text):
    assert visible(text) == text


def test_long_names_are_cut():
    assert len(short("q" * 900_000)) < 80
    assert "900,000" in short("q" * 900_000)
    assert short("two\nlines") == r"two\nlines"
