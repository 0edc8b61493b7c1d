"""The paper in plain Python: slow, obvious, and the oracle of the tests."""
