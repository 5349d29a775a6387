# One word for each thing to do; `make help` lists them. CMake does the work, this file only knows the order.
#
# Every target first installs what is missing (Debian, Ubuntu: scripts/install-dependencies.sh), which is nothing on a
# machine that has it all; DEPENDENCIES=no leaves that out.

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
DEPENDENCIES ?= yes
export PYTHON ?= /usr/bin/python3
KITH := build/release/bin/kith

BUILD = cmake --build --parallel $(JOBS) --preset
TEST = ctest --parallel $(JOBS) --preset

.DEFAULT_GOAL := build
.PHONY: help dependencies python-environment build demo test tested docs documentation asan tsan format lint bench \
    install clean

help:
	@echo "make build                 the program: $(KITH)"
	@echo "make demo                  simulate a small universe and find its halos: kith-demo/"
	@echo "make test                  all tests, also under the sanitizers"
	@echo "make docs                  the documentation: build/docs/index.html"
	@echo "make asan, make tsan       the tests under one sanitizer"
	@echo "make lint                  layout (clang-format) and habits (clang-tidy) of the code"
	@echo "make bench SUITE=must      kith beside its peers: quick (minutes), must (an hour), full (hours)"
	@echo "make install PREFIX=/path  program, library, headers, CMake package (default /usr/local)"
	@echo "make clean                 remove build/ and kith-demo/"

dependencies:
ifneq ($(DEPENDENCIES),no)
	@scripts/install-dependencies.sh $(DEPENDENCIES_FOR)
endif

test: DEPENDENCIES_FOR = --for-checks
test docs: PYTHON_ENVIRONMENT_FOR = docs
lint: DEPENDENCIES_FOR = --for-checks
bench: DEPENDENCIES_FOR = --for-benchmarks

build: dependencies
	cmake --preset release
	$(BUILD) release --target kith_cli

demo: build
	bench/demo.sh $(KITH) kith-demo

# Warnings are errors in the first build only: what sanitizers add to the code makes GCC warn of what is not there. They
# come last: they are slow, and what the plain tests find is easier to read. The package tests look at installing, which
# no sanitizer changes.
test: dependencies python-environment
	$(MAKE) DEPENDENCIES=no format tested docs asan tsan
	@echo "all tests passed"

tested: python-environment
	$(CONFIGURE_DEV)
	$(BUILD) dev
	$(TEST) dev
	$(PYTHON) bench/cosmic_box.py --check
	$(PYTHON) bench/compare.py --programs build/dev/bin --output build/dev/bench/neighbors.json \
	    --points clustered -n 3000 -d 2,3 -k 8 --peers nanoflann --repetitions 1
	$(PYTHON) bench/compare.py --programs build/dev/bin --output build/dev/bench/groups.json \
	    --points clustered -n 3000 -b 0.2 --periodic --peers none --repetitions 1

# What the Python package is built, tested and documented with.
PYTHON_ENVIRONMENT := build/python-environment
CONFIGURE_DEV = cmake --preset dev $$(test ! -d $(PYTHON_ENVIRONMENT) || echo -DKITH_PYTHON=ON \
    -DPython_EXECUTABLE=$(CURDIR)/$(PYTHON_ENVIRONMENT)/bin/python)
python-environment: dependencies
ifneq ($(DEPENDENCIES),no)
	@scripts/python-environment.sh $(PYTHON_ENVIRONMENT) $(PYTHON_ENVIRONMENT_FOR)
endif

# Pages with code are run, so the package is built first. Warnings are errors.
docs: python-environment
	@if [ -f $(PYTHON_ENVIRONMENT)/packages-for-docs ]; then $(MAKE) DEPENDENCIES=no documentation; \
	    else echo "make docs: Sphinx and what goes with it are missing; THE DOCUMENTATION IS NOT BUILT" >&2; fi

documentation:
	$(CONFIGURE_DEV)
	$(BUILD) dev --target kith_python kith_cli
	PYTHONPATH=$(CURDIR)/build/dev/python PYTHONDONTWRITEBYTECODE=1 $(PYTHON_ENVIRONMENT)/bin/python -m sphinx \
	    -W --keep-going --quiet --fresh-env --jobs 2 -b html -d build/docs-work docs build/docs
	@echo "build/docs/index.html"

asan: dependencies
	cmake --preset asan
	$(BUILD) asan
	$(TEST) asan --label-exclude package

# The rooms whose code runs on several threads, in three dimensions alone: threads meet in the same places in all.
TSAN_ROOMS := order tree knn fof catalogue
empty :=
space := $(empty) $(empty)
tsan: dependencies
	cmake --preset tsan -DKITH_DIMS=3
	$(BUILD) tsan --target $(TSAN_ROOMS:%=test_%)
	TSAN_OPTIONS="suppressions=$(CURDIR)/scripts/thread_sanitizer.supp" $(TEST) tsan \
		--label-regex '^($(subst $(space),|,$(TSAN_ROOMS)))$$'

format:
	scripts/check-format.sh

lint: dependencies format
	cmake --preset dev
	scripts/run-clang-tidy.sh build/dev

# Peers that are Python packages go to build/bench-venv; so does the newest nanoflann that is to be had. Another one:
# NANOFLANN=/folder/of/nanoflann.hpp.
SUITE ?= must
NANOFLANN ?= build/bench-venv/nanoflann
bench: dependencies
ifneq ($(DEPENDENCIES),no)
	$(PYTHON) bench/compare.py --install
endif
	cmake -S . -B build/bench -G Ninja -DCMAKE_BUILD_TYPE=Release -DKITH_BENCHMARKS=ON -DKITH_IO=OFF -DKITH_CLI=OFF \
	    -DKITH_TESTS=OFF -DKITH_EXAMPLES=OFF -DKITH_NANOFLANN_INCLUDE_DIR=$(abspath $(NANOFLANN))
	cmake --build build/bench --parallel $(JOBS) --target contestants
	$(PYTHON) bench/compare.py --suite $(SUITE)

install: dependencies
	cmake --preset release
	$(BUILD) release --target kith kith_io kith_cli
	cmake --install build/release --prefix $(PREFIX)

clean:
	rm -rf build kith-demo
