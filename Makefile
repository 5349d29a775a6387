# One word for each thing to do; `make help` lists them. CMake does the work, this file only knows the order.
#
# Every target first installs what is missing (Debian, Ubuntu: scripts/install-dependencies.sh), which is nothing on a
# machine that has it all; DEPENDENCIES=no leaves that out.

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
OPTIONS ?=
DEPENDENCIES ?= yes
export PYTHON ?= /usr/bin/python3
KITH := build/release/bin/kith

BUILD = cmake --build --parallel $(JOBS) --preset
TEST = ctest --parallel $(JOBS) --preset

.DEFAULT_GOAL := build
.PHONY: help dependencies python-environment build demo test check nightly docs documentation asan asan-all tsan clang clang-build cuda \
    cuda-build gpu-pack gpu-pack-build kernels full openmpi openmpi-build format lint lint-sources bench install clean

help:
	@echo "make build                 the program: $(KITH)"
	@echo "make demo                  simulate a small universe and find its halos: kith-demo/"
	@echo "make test                  all tests, in the build that developers use"
	@echo "make check                 the installed package, the documentation, and what nvcc makes of the kernels for GPUs"
	@echo "make nightly               more: sanitizers, clang, CUDA, all dimensions and instruction sets, pip, the wheel: hours"
	@echo "make docs                  the documentation: build/docs/index.html"
	@echo "make asan, tsan, clang, cuda   one of these builds each; make kernels: what nvcc makes of the code for GPUs"
	@echo "make gpu-pack              what bench/gpu_check.sh needs on a machine with a Hopper GPU, in one folder: build/pack"
	@echo "make lint                  layout (clang-format) and habits (clang-tidy) of the code"
	@echo "make bench SUITE=must      kith beside its peers: quick (minutes), must (an hour), full (hours)"
	@echo "make install PREFIX=/path  program, library, headers, CMake package (default /usr/local)"
	@echo "OPTIONS=-DKITH_CUDA=OFF    with build, demo and install: options for CMake, here without the code for GPUs"
	@echo "make clean                 remove build/ and kith-demo/"

dependencies:
ifneq ($(DEPENDENCIES),no)
	@scripts/install-dependencies.sh $(DEPENDENCIES_FOR)
endif

test check nightly asan tsan clang cuda gpu-pack kernels lint: DEPENDENCIES_FOR = --for-checks
check docs: PYTHON_ENVIRONMENT_FOR = docs
bench: DEPENDENCIES_FOR = --for-benchmarks

build: dependencies
	cmake --preset release $(OPTIONS)
	$(BUILD) release --target kith_cli

# For this machine alone, which takes less to compile.
demo: dependencies
	cmake --preset release -B build/demo -DKITH_SIMD=NATIVE $(OPTIONS)
	cmake --build build/demo --parallel $(JOBS) --target kith_cli
	bench/demo.sh build/demo/bin/kith kith-demo

# What developers wait for: one build (CMakePresets.json, dev) and every test.
test: dependencies python-environment
	$(MAKE) DEPENDENCIES=no format
	$(CONFIGURE_DEV)
	$(BUILD) dev
	$(TEST) dev --label-exclude package
	$(PYTHON) bench/cosmic_box.py --check
	$(PYTHON) bench/compare.py --programs build/dev/bin --output build/dev/bench/neighbors.json \
	    --points clustered -n 3000 -d 2,3 -k 8 --peers nanoflann,grid --repetitions 1
	$(PYTHON) bench/compare.py --programs build/dev/bin --output build/dev/bench/groups.json \
	    --points clustered -n 3000 -b 0.2 --periodic --peers none --repetitions 1
	@echo "all tests passed"

# What else takes minutes. Builds of the whole library with other compilers and flags are make nightly's.
check: dependencies python-environment
	$(CONFIGURE_DEV)
	$(BUILD) dev
	$(BUILD) dev --target contestants
	$(TEST) dev --label-regex '^package$$'
	$(MAKE) DEPENDENCIES=no docs kernels
	@echo "all checks passed"

# Beyond the parts: the program by clang, with sources together as GCC has them; all sources, each alone; kith.jax with all
# of JAX's optimization, which python.tests leaves out.
nightly: dependencies python-environment
	$(MAKE) DEPENDENCIES=no test check cuda asan-all tsan clang openmpi
	$(TEST) dev --label-regex '^package-from-sources$$'
	$(BUILD) tsan --target kith_cli
	test ! -d build/clang || { cmake --preset clang -DKITH_TOGETHER=ON && $(BUILD) clang --target kith_cli; }
	$(CONFIGURE_DEV) -B build/alone -DKITH_TOGETHER=OFF
	cmake --build build/alone --parallel $(JOBS)
	test ! -d build/cuda || $(MAKE) DEPENDENCIES=no cuda CUDA_DIMS='-DKITH_DIMS="2;3;6"'
	KITH_LARGE_TESTS=1 $(MAKE) DEPENDENCIES=no full
	for seed in 1 2 3; do KITH_EMULATION_SEED=$$seed $(TEST) dev --label-regex '^emulation' || exit 1; done
	test ! -d $(PYTHON_ENVIRONMENT) || PYTHONPATH=$(CURDIR)/build/dev/python PYTHONDONTWRITEBYTECODE=1 \
	    $(PYTHON_ENVIRONMENT)/bin/python -m pytest -q -p no:cacheprovider python/tests/test_jax*.py
	scripts/build-wheel.sh
	@echo "all nightly checks passed"

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

# Warnings are not errors under the sanitizers: what they add to the code makes GCC warn of what is not there.
# make nightly adds the emulated GPU, the program, and two and six dimensions (asan-all).
ASAN_MODULES := oracle points order tree neighbors groups pairs mst kdtree clover halos distributed io
ASAN_TEST = LSAN_OPTIONS="suppressions=$(CURDIR)/scripts/leak_sanitizer.supp" $(TEST) asan
asan: dependencies
	cmake --preset asan
	$(BUILD) asan --target $(ASAN_MODULES:%=test_%)
	$(ASAN_TEST) --label-regex '^($(subst $(space),|,$(ASAN_MODULES)))$$'
asan-all: asan
	cmake --preset asan -DKITH_DIMS="2;3;6"
	$(BUILD) asan
	$(ASAN_TEST) --label-exclude package

empty :=
space := $(empty) $(empty)

# The core, with every instruction set, and the tests of what depends on these and on types, where clang is found. make
# nightly compiles the program, too.
CLANG = $(shell command -v clang++ || command -v clang++-14)
CLANG_MODULES := headers order tree neighbors groups pairs mst kdtree clover simd
clang: dependencies
	@if [ -n "$(CLANG)" ]; then $(MAKE) DEPENDENCIES=no clang-build; \
	    else echo "make clang: clang++ is missing; ITS BUILD IS LEFT OUT" >&2; fi
clang-build:
	cmake --preset clang -DCMAKE_CXX_COMPILER=$(CLANG)
	$(BUILD) clang --target $(CLANG_MODULES:%=test_%)
	$(TEST) clang --label-regex '^($(subst $(space),|,$(CLANG_MODULES)))$$'

# The thread sanitizer's is the shared libraries', in three dimensions, and has the modules whose code runs on several
# threads: threads meet in the same places in all dimensions and with all instruction sets. make nightly links the
# program with the shared libraries.
TSAN_MODULES := order tree neighbors groups pairs mst kdtree clover halos distributed
tsan: dependencies
	cmake --preset tsan
	$(BUILD) tsan --target $(TSAN_MODULES:%=test_%)
	TSAN_OPTIONS="suppressions=$(CURDIR)/scripts/thread_sanitizer.supp" $(TEST) tsan \
		--label-regex '^($(subst $(space),|,$(TSAN_MODULES)))$$'

# The code for GPUs. `kernels` compiles what runs there and checks it (tests/gpu_kernels); `cuda` compiles and links all,
# the programs, too, whose tests are skipped where there is no GPU. In three dimensions: make nightly compiles two and
# six, too.
kernels: export CUDA_TARGETS = gpu_kernels
kernels: export CUDA_TESTS = ^gpu_kernels$$
cuda: export CUDA_TARGETS = gpu_kernels test_cuda bench_gpu examples_on_gpus
cuda: export CUDA_TESTS = ^(gpu|gpu_kernels)$$
kernels cuda: dependencies python-environment
	@if command -v nvcc >/dev/null; then $(MAKE) DEPENDENCIES=no cuda-build; \
	    else echo "make $@: nvcc is missing; THE CODE FOR GPUS IS NOT COMPILED" >&2; fi

cuda-build:
	cmake --preset cuda $(CUDA_DIMS)
	$(BUILD) cuda --target $(CUDA_TARGETS)
	$(TEST) cuda --label-regex "$$CUDA_TESTS"

# Machine code for Hopper alone: with PTX, three dimensions would be twice as large.
GPU_ARCHITECTURES ?= 90-real
gpu-pack: dependencies
	@if command -v nvcc >/dev/null; then $(MAKE) DEPENDENCIES=no gpu-pack-build; \
	    else echo "make gpu-pack: nvcc is missing; NOTHING IS PACKED" >&2; exit 1; fi

gpu-pack-build:
	cmake --preset cuda -B build/gpu -DKITH_DIMS="2;3;6" -DCMAKE_CUDA_ARCHITECTURES=$(GPU_ARCHITECTURES) \
	    -DKITH_MPI=OFF \
	    $(if $(GPU_PYTHON),-DKITH_PYTHON=ON -DPython_EXECUTABLE=$(GPU_PYTHON))
	cmake --build build/gpu --parallel $(JOBS) --target bench_gpu test_cuda kith_cli $(if $(GPU_PYTHON),kith_python)
	bench/gpu_pack.sh build/gpu build/pack

# Every dimension and instruction set, as users build it, and for GPUs where nvcc is found.
full: dependencies
	cmake --preset full
	$(BUILD) full
	$(TEST) full --label-exclude package

# Ranks over the other MPI, which lies beside MPICH: its compiler wrapper says which one is meant.
OPENMPI_CXX ?= mpicxx.openmpi
OPENMPI_RUN ?= mpiexec.openmpi
openmpi: dependencies
	@if command -v $(OPENMPI_CXX) >/dev/null; then $(MAKE) DEPENDENCIES=no openmpi-build; \
	    else echo "make openmpi: $(OPENMPI_CXX) is missing; RANKS ARE NOT TESTED OVER OPEN MPI" >&2; fi

openmpi-build:
	cmake --preset dev -B build/openmpi -DKITH_PYTHON=OFF -DMPI_CXX_COMPILER=$$(command -v $(OPENMPI_CXX)) \
	    -DMPIEXEC_EXECUTABLE=$$(command -v $(OPENMPI_RUN))
	cmake --build build/openmpi --parallel $(JOBS) --target tests_over_mpi \
	    test_program_ranks gather simulation simulation_mpi
	ctest --test-dir build/openmpi --label-regex '^mpi$$' --output-on-failure

format:
	scripts/check-format.sh

# clang-tidy reads the commands of a build by clang, without precompiled headers, which it cannot read. The code for GPUs
# and its emulation, which need headers that clang 14 cannot compile, are left out.
lint: dependencies format
	@if [ -n "$(CLANG)" ]; then $(MAKE) DEPENDENCIES=no lint-sources; \
	    else echo "make lint: clang++ is missing; THE SOURCES ARE NOT CHECKED" >&2; fi
lint-sources:
	cmake --preset clang -B build/lint -DCMAKE_CXX_COMPILER=$(CLANG) -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
	    -DKITH_SIMD=AVX2 -DKITH_TESTS=OFF
	scripts/run-clang-tidy.sh build/lint

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
	cmake --preset release $(OPTIONS)
	$(BUILD) release --target kith_installed
	cmake --install build/release --prefix $(PREFIX)

clean:
	rm -rf build kith-demo
