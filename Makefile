# Thin: every rule is a line or two of CMake. `make demo` and `make test` are all a newcomer needs:
# they install what is missing. `make build` installs nothing.
.PHONY: all build demo docs python test sanitize tsan bench fuzz soak format lint clean deps
.DEFAULT_GOAL := build

QUIET := > /dev/null
CONFIGURE := cmake --preset release $(QUIET) || \
  { echo "make: if packages are missing, scripts/deps installs them" >&2; exit 1; }
FUZZ_SECONDS ?= 60
DATA := $(or $(ISOTACT_DATA),../shared/data)

deps:
	@scripts/deps

build:
	@$(CONFIGURE)
	@cmake --build --preset release

# The tool and its pages; no tests, no examples.
demo: deps
	@$(CONFIGURE)
	@cmake --build --preset release --target isotact_tool
	@build/release/bin/isotact demo

# The documentation as a site; fails on a link that leads nowhere.
docs: deps
	@python3 scripts/site

# A wheel of the Python package in build/python, installed and tested in a fresh environment. There
# NumPy is the system's.
PYTHON ?= /usr/bin/python3
python:
	@scripts/deps core python
	@scripts/test_python $(PYTHON)

# The whole suite, as users get it.
test:
	@scripts/deps core viewer
	@$(CONFIGURE)
	@cmake --build --preset release
	@ctest --preset release -j2

# The suite under the address and undefined-behaviour sanitizers, which also replay the fuzzers'
# corpus.
sanitize:
	@scripts/deps core viewer
	@cmake --preset asan $(QUIET)
	@cmake --build --preset asan
	@ctest --preset asan -j2

tsan: deps
	@cmake --preset tsan $(QUIET)
	@cmake --build --preset tsan
	@ctest --preset tsan -j2

bench:
	@scripts/deps core bench python
	@cmake --preset release -DISOTACT_BUILD_BENCH=ON $(QUIET)
	@cmake --build --preset release
	@ISOTACT_DATA="$(DATA)" build/release/bin/isotact bench

fuzz:
	@scripts/deps core fuzz
	@cmake --preset fuzz $(QUIET)
	@cmake --build --preset fuzz
	@scripts/fuzz $(FUZZ_SECONDS)

# Long runs that the suite has no time for: the fuzzers for ten minutes each, and the suite under
# the thread sanitizer.
soak: tsan
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=600

format:
	@scripts/lint --fix

lint:
	@scripts/deps core lint
	@scripts/lint

clean:
	@rm -rf build
