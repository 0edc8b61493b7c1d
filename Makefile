# Everything a fresh clone needs: `make run` and `make test` create .venv, build the core and go. `make run` builds it quickly
# (CROSSCUT_QUICK in cpp/base/module.cmake); the tests and benchmarks build it, and crosscut-relational, as wheels have them.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
CPP := $(shell find cpp -name "*.?pp" -o -name "*.cmake") CMakeLists.txt
RELATIONAL := $(shell find relational/cpp -name "*.?pp") relational/CMakeLists.txt relational/pyproject.toml
JOBS ?= 2
TESTS ?= tests relational/tests
BUILD = $(PY) -m pip install --quiet --no-build-isolation --editable ".[all]" --editable "./relational[all]"

.PHONY: bench-guard fuzz sanitize-threads run test test-slow lint types format docs sanitize test-clang test-aarch64 bench reproduce wheel test-versions clean

run: $(or $(wildcard $(VENV)/.built),$(VENV)/.native)
	$(VENV)/bin/crosscut cv examples/churn.csv --target churned

test: lint types
	$(PY) -m pytest -n $(JOBS) -m "not slow"
	cd relational && ../$(PY) -m pytest -n $(JOBS) -m "not slow"

test-slow: $(VENV)/.built
	$(PY) -m pytest -n $(JOBS)
	cd relational && ../$(PY) -m pytest -n $(JOBS)

lint: $(VENV)/.built
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(VENV)/bin/clang-format --dry-run -Werror $(filter %pp,$(CPP) $(RELATIONAL))
	$(VENV)/bin/codespell
	$(VENV)/bin/lint-imports
	cd relational && ../$(VENV)/bin/lint-imports

types: $(VENV)/.built
	$(PY) -m mypy
	cd relational && ../$(PY) -m mypy

format: $(VENV)/.built
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .
	$(VENV)/bin/clang-format -i $(filter %pp,$(CPP) $(RELATIONAL))

# The documentation as a site, in site/; its examples are run by `make test`.
docs: $(VENV)/.built
	$(PY) -m pip install --quiet --group docs
	$(VENV)/bin/zensical build --strict --config-file mkdocs.yml

# The same tests with the C++ core checked for bad memory accesses and undefined behaviour; the next `make` builds it plainly again.
sanitize: $(VENV)/.dependencies
	rm -f $(VENV)/.built $(VENV)/.native
	$(BUILD) --config-settings cmake.define.CROSSCUT_SANITIZE=ON --config-settings build-dir=build/sanitize
	export LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0; \
		$(foreach tests,$(TESTS),$(PY) -m pytest -n $(JOBS) -m "not slow" $(tests) &&) true

# Concurrent calls of the core under ThreadSanitizer, which must report the planted race of the control and nothing else. OpenBLAS
# has threads of its own, which ThreadSanitizer does not know.
TSAN = LD_PRELOAD="$$($(CXX) -print-file-name=libtsan.so) $$($(CXX) -print-file-name=libstdc++.so)" OPENBLAS_NUM_THREADS=1 \
	TSAN_OPTIONS="exitcode=66 halt_on_error=1 ignore_noninstrumented_modules=1" setarch -R ../$(PY) -m fuzz.threads
sanitize-threads: $(VENV)/.dependencies
	rm -f $(VENV)/.built $(VENV)/.native
	$(BUILD) --config-settings cmake.define.CROSSCUT_SANITIZE=thread --config-settings build-dir=build/threads
	$(CXX) -g -shared -fPIC -fsanitize=thread tests/fuzz/race.cpp -o build/race.so
	cd tests; $(TSAN) race ../build/race.so; test $$? = 66
	cd tests; $(TSAN)

# Damaged input for readers, model files, checkpoints and the core; Arrow memory that lies; hostile text and names; failing allocations.
# `make fuzz CASES=1000000 SECONDS=3600 TARGETS=readers`. It takes the core as
# it is built: after `make sanitize` the checked one. MODULE=tests.fuzz.targets is for crosscut-relational.
CASES ?= 10000
SECONDS ?= 600
TARGETS ?= models readers bindings allocations tables lies sql names checkpoints
MODULE ?= fuzz.targets
fuzz: $(VENV)/.dependencies
	cd tests && ../$(PY) -m fuzz.fuzz $(TARGETS) --module $(MODULE) --cases $(CASES) --seconds $(SECONDS)

# The same tests with the core built by clang with libc++ (Debian: libc++-dev, libc++abi-dev), warnings being errors.
test-clang: $(VENV)/.dependencies
	rm -f $(VENV)/.built $(VENV)/.native
	CXX=clang++ CXXFLAGS=-stdlib=libc++ $(BUILD) --config-settings build-dir=build/clang --config-settings cmake.define.CROSSCUT_WERROR=ON
	$(foreach tests,$(TESTS),$(PY) -m pytest -n $(JOBS) -m "not slow" $(tests) &&) true

# The core for aarch64, cross-compiled and compared with the reference under qemu. For Debian 12 and a .venv of Python 3.11, with
# the packages g++-aarch64-linux-gnu and qemu-user-static.
test-aarch64: $(VENV)/.created
	$(PY) -m pip install --quiet --group build
	tests/installation/aarch64.sh $(PY) $(if $(filter tests,$(TESTS)),tests/equivalence tests/engines/stream/test_level_wise.py,$(TESTS))

# crosscut beside its peers, the core's own figures, the panel of real tables and small calls; `make bench QUICK=--quick` for a first
# impression. A peer whose package cannot be installed here is left out, with a message.
bench: $(VENV)/.built
	for peer in lightgbm xgboost ydf; do $(PY) -c "import $$peer" 2> /dev/null || \
		$(PY) -m pip install --quiet --group bench-$$peer || true; done
	$(PY) -m pip install --quiet --group bench-panel
	$(PY) benchmarks/core.py $(QUICK) --json build/core.json
	$(PY) benchmarks/bench.py $(QUICK) --json build/bench.json
	$(PY) benchmarks/panel.py $(QUICK) --json build/panel.json
	$(PY) benchmarks/small_calls.py $(QUICK) --json build/small_calls.json
	$(PY) benchmarks/tables.py build

# Instructions of ten cases, compared with those in AGAINST; needs valgrind and its headers.
AGAINST ?= benchmarks/results/guard.json
bench-guard: $(VENV)/.built
	$(PY) benchmarks/guard.py --against $(AGAINST) --json build/guard.json

# The paper's tables and figures, into reproduction/; `make reproduce QUICK=--quick` takes a minute.
reproduce: $(VENV)/.built
	$(PY) benchmarks/reproduce.py $(QUICK)

# Wheels of both distributions for this machine, in dist/: made from the source archives, repaired, installed into an
# empty environment and tried there. crosscut-relational's is built with the wheel of crosscut. `make wheel WHEEL_PYTHONS="python3.11 python3.12"` makes all: 3.11's own, and that of 3.12 and later.
WHEEL_PYTHONS ?= $(PYTHON)
wheel: $(VENV)/.created
	$(PY) -m pip install --quiet --group wheel
	rm -rf dist build/wheels
	for folder in . relational; do $(PY) -m build --sdist --outdir dist $$folder || exit 1; done
	for python in $(WHEEL_PYTHONS); do for archive in dist/crosscut-[0-9]*.tar.gz dist/crosscut_relational-*.tar.gz; do \
		$$python -m pip wheel --quiet --no-deps --find-links build/wheels --wheel-dir build/wheels $$archive || exit 1; done; done
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(PY) -m auditwheel repair --wheel-dir dist build/wheels/*.whl
	for python in $(WHEEL_PYTHONS); do $(PY) tests/installation/try_wheel.py $$python dist || exit 1; done
	ls -l dist

# The tests against the wheels of `make wheel`, not the clone, with the oldest and the newest libraries that are supported.
VERSIONS ?= $(WHEEL_PYTHONS)
test-versions:
	for python in $(VERSIONS); do for libraries in oldest newest; do \
		$(PYTHON) tests/installation/try_wheel.py $$python dist $$libraries $(TESTS) || exit 1; done; done

$(VENV)/.created:
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --upgrade "pip>=25.1"
	touch $@

$(VENV)/.native: $(VENV)/.created pyproject.toml $(CPP)
	$(PY) -m pip install --quiet --no-compile --group build
	$(PY) -m pip install --quiet --no-compile --no-build-isolation --editable . --config-settings cmake.define.CROSSCUT_QUICK=ON
	touch $@

# Dependencies are installed again only when pyproject.toml changes, the core is built again only when cpp/ does.
$(VENV)/.dependencies: $(VENV)/.created pyproject.toml
	$(PY) -m pip install --quiet --group dev
	touch $@

$(VENV)/.built: $(VENV)/.dependencies $(CPP) $(RELATIONAL)
	$(BUILD) --config-settings cmake.define.CROSSCUT_QUICK=OFF
	touch $@

clean:
	rm -rf $(VENV) build relational/build
