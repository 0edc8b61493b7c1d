# Everything a fresh clone needs: `make run` and `make test` create .venv, build the core and go.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
CPP := $(shell find cpp -name "*.?pp") CMakeLists.txt
JOBS ?= 2
TESTS ?= tests

.PHONY: run test test-slow lint types format sanitize bench reproduce clean

run: $(VENV)/.built
	$(VENV)/bin/crosscut cv examples/churn.csv --target churned

test: lint types
	$(PY) -m pytest -n $(JOBS) -m "not slow"

test-slow: $(VENV)/.built
	$(PY) -m pytest -n $(JOBS)

lint: $(VENV)/.built
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(VENV)/bin/lint-imports

types: $(VENV)/.built
	$(PY) -m mypy

format: $(VENV)/.built
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

# The documentation as a site, in site/; its examples are run by `make test`.
docs: $(VENV)/.built
	$(PY) -m pip install --quiet --group docs
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --quiet

# The same tests with the C++ core checked for bad memory accesses and undefined behaviour; the next `make` builds it plainly again.
sanitize: $(VENV)/.dependencies
	rm -f $(VENV)/.built
	$(PY) -m pip install --quiet --no-build-isolation --editable ".[all]" \
		--config-settings cmake.define.CROSSCUT_SANITIZE=ON --config-settings build-dir=build/sanitize
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0 \
		$(PY) -m pytest -n $(JOBS) -m "not slow" $(TESTS)

# crosscut beside its peers, and the core's own figures; `make bench QUICK=--quick` for a first impression. A peer whose
# package cannot be installed here is left out, with a message.
bench: $(VENV)/.built
	for peer in lightgbm xgboost ydf; do $(PY) -c "import $$peer" 2> /dev/null || \
		$(PY) -m pip install --quiet --no-build-isolation --editable ".[all,bench-$$peer]" || true; done
	$(PY) benchmarks/core.py $(QUICK) --json build/core.json
	$(PY) benchmarks/bench.py $(QUICK) --json build/bench.json
	$(PY) benchmarks/tables.py build

# The paper's tables and figures, into reproduction/; `make reproduce QUICK=--quick` takes a minute.
reproduce: $(VENV)/.built
	$(VENV)/bin/crosscut reproduce $(QUICK)

# Dependencies are installed again only when pyproject.toml changes, the core is built again only when cpp/ does.
$(VENV)/.dependencies: pyproject.toml
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --upgrade "pip>=25.1"
	$(PY) -m pip install --quiet --group dev
	touch $@

$(VENV)/.built: $(VENV)/.dependencies $(CPP)
	$(PY) -m pip install --quiet --no-build-isolation --editable ".[all]"
	touch $@

clean:
	rm -rf $(VENV) build
