from crosscut.engines.progress import Meter, Progress


def test_rate_and_time_left():
    progress = Progress("level 3", 6, 250, 1000, 0.5)
    assert progress.rate == 500
    assert progress.seconds_left == 1.5
    assert str(progress) == "pass 6 (level 3): 250 of 1,000 rows, 500 rows/s, 2 s left"


def test_a_line_on_the_terminal(capsys):
    meter = Meter(report=True)
    meter.start("survey", 10)
    meter.add(10)
    assert "pass 1 (survey): 10 of 10 rows" in capsys.readouterr().err
