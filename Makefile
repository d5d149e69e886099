# SPDX-License-Identifier: Apache-2.0
# The short commands; CMakeLists.txt does the work.
#
#   make          build/combinex, build/libcombinex.so and libcombinex-kit.so, and .a of both
#   make demo     train a model and use it
#   make quick    the unit tests, for the inner loop: half a minute on two cores once it is built
#   make check    all tests, then once more under the sanitizers
#   make check-locale all tests of what reads or writes, in programs where one half is 0,5
#   make check-more what takes further tools: other compilers, threads, memory, stack
#   make adversary tries to break certificates by brute force, ADVERSARY_CASES of them
#   make fuzz     every reader of outside bytes, FUZZ_SECONDS each, under the sanitizers
#   make analyze  gcc -fanalyzer, clang-tidy and cppcheck
#   make coverage which lines the tests reach (gcovr)
#   make install  to PREFIX (/usr/local), below DESTDIR if set
#
# CMAKE_FLAGS are used when a build folder is first made; after `make clean`, again.
PREFIX ?= /usr/local
DESTDIR ?=
CMAKE_FLAGS ?=
FUZZ_SECONDS ?= 60
FUZZ_RUNS ?= 100000
JOBS ?= $(shell getconf _NPROCESSORS_ONLN)

.PHONY: all bootstrap demo quick check fuzz install clean format
.NOTPARALLEL:

# The flags given to this file are not meant for the generated ones.
build = MAKEFLAGS=--no-print-directory cmake --build $(1) --parallel $(JOBS)
ctest = cd $(1) && ctest --output-on-failure --parallel $(JOBS) --timeout 300

all: bootstrap build/configured
	@$(call build,build) --target combinex combinex_kit combinex_cli

bootstrap:
	@scripts/bootstrap.sh build

demo: all
	@scripts/demo.sh

# Everything that is a unit test, in release; the commands, pages and sanitizers are for check.
quick: bootstrap-check build/configured
	@$(call build,build)
	@$(call ctest,build) --exclude-regex '^(cli|browser|python|fuzz|examples)/|^(python|growth|faults|install|docs|locale|reproducible)$$'

# Long there, and of code that others run there: commands on every data set and method, limits of time, the judge's own test.
asan_without = ^(reproducible|cli/(shared_data|rivals|reproducible|robust_truth)|kernel/test_time_fixed|search/test_limits|adversary/itself)$$

check: bootstrap-check build/configured build-asan/configured
	@$(call build,build)
	@$(call build,build-asan)
	@echo "== tests" && $(call ctest,build)
	@echo "== the same under the address and undefined behaviour sanitizers" && \
		$(call ctest,build-asan) --exclude-regex '$(asan_without)'
	@$(call with,valgrind,$(again) valgrind-short)

# libFuzzer where clang has it; else the seeds, changed at random FUZZ_RUNS times. FUZZ=
# names some of the targets.
FUZZ ?=
fuzz: bootstrap-check
	@if echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | \
		clang -fsanitize=fuzzer -x c -o /dev/null - 2> /dev/null; \
	then $(again) fuzz-guided; else $(again) fuzz-random; fi

.PHONY: fuzz-guided fuzz-random
fuzz-guided: build-fuzz/configured
	@$(call build,build-fuzz) --target fuzzers
	@scripts/fuzz.sh build-fuzz $(FUZZ_SECONDS) $(JOBS) $(FUZZ)

fuzz-random: build-asan/configured
	@$(call build,build-asan)
	@for target in build-asan/fuzz/fuzz_*; do \
		case $$target in *.c) continue ;; esac; \
		name=$${target##*fuzz_}; \
		echo "== $$name" && $$target --runs $(FUZZ_RUNS) fuzz/seeds/$$name || exit 1; \
	done

# Questions whose answers are held against brute force; the seed decides which. A broken one is named
# with its number: build/tests/adversary --seed S --case N shows it.
ADVERSARY_CASES ?= 100000
ADVERSARY_SEED ?= 1
.PHONY: adversary
adversary: bootstrap build/configured
	@$(call build,build) --target adversary
	@build/tests/adversary --self-test
	@build/tests/adversary --cases $(ADVERSARY_CASES) --seed $(ADVERSARY_SEED)

# ldconfig tells the loader of the new library.
install: all
	@DESTDIR="$(DESTDIR)" cmake --install build --prefix "$(PREFIX)"
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" -eq 0 ]; then ldconfig 2> /dev/null || true; fi

ifneq ($(wildcard bench/run.sh),)
.PHONY: bench
bench: all
	@bench/run.sh
endif

format:
	@clang-format -i $$(git ls-files -co --exclude-standard '*.c' '*.h' 'src/report/page/*.js')
	@if command -v black > /dev/null; then black -q python examples/*.py; fi

clean:
	@rm -rf $(folders) build-path-*

# ----------------------------------------------------------- build folders

flags.build       = -DCMAKE_BUILD_TYPE=Release
flags.build-asan  = -DCMAKE_BUILD_TYPE=Debug -DCBX_SANITIZE=ON
flags.build-fuzz  = -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang -DCBX_SANITIZE=ON \
                    -DCBX_LIBFUZZER=ON -DCBX_MPI=OFF
flags.build-gcc   = -DCMAKE_C_COMPILER=gcc -DCBX_WERROR=ON -DCBX_BENCH=ON
flags.build-clang = -DCMAKE_C_COMPILER=clang -DCBX_WERROR=ON
# libcurl's headers are not for every architecture.
flags.build-tsan  = -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang -DCBX_TSAN=ON -DCBX_MPI=OFF
flags.build-arm64 = --toolchain cmake/aarch64-linux-gnu.cmake -DCBX_WERROR=ON -DCBX_TESTS=OFF \
                    -DCBX_CURL=OFF
folders = build build-analyze build-coverage build-asan build-fuzz build-gcc build-clang build-arm64 \
          build-tsan

# Once a folder is configured, its own makefiles see when that must be done again.
$(folders:=/configured):
	@cmake -S . -B $(@D) $(flags.$(@D)) $(CMAKE_FLAGS)
	@touch $@

# ------------------------------------------ checks that take further tools

.PHONY: bootstrap-check check-locale check-more analyze coverage warnings-gcc warnings-clang cross-arm64
.PHONY: tsan tsan-short valgrind valgrind-short valgrind-all stack faults
with = if command -v $(1) > /dev/null; then $(2); else echo "== no $(1): skipped"; fi
again = $(MAKE) --no-print-directory
# SC2317 takes functions that are called by name, as the tests do, for unreachable.
shellcheck = shellcheck -x --source-path=SCRIPTDIR -e SC2317
scripts = .ci/run $(wildcard scripts/*.sh tests/*/*.sh completions/*.bash bench/*.sh)

bootstrap-check:
	@scripts/bootstrap.sh check

check-more: bootstrap-check
	@$(call with,gcc,$(again) warnings-gcc)
	@$(call with,clang,$(again) warnings-clang)
	@$(call with,aarch64-linux-gnu-gcc,$(again) cross-arm64)
	@scripts/check-paths.sh
	@scripts/check-reproducible.sh
	@$(call with,clang,$(again) tsan)
	@$(call with,valgrind,$(again) valgrind)
	@$(again) stack
	@$(call with,localedef,$(again) check-locale)
	@$(call with,shellcheck,echo "== shellcheck" && $(shellcheck) $(scripts))
	@DEPTH=60000 $(again) analyze

check-locale: bootstrap-check build/configured
	@$(call build,build)
	@echo "== all tests of what reads or writes, in programs where one half is 0,5"
	@CBX_BUILD="$(CURDIR)/build" JOBS=$(JOBS) tests/locale/run.sh all

coverage: bootstrap-check
	@scripts/coverage.sh build-coverage $(JOBS)

analyze:
	@scripts/analyze.sh build-analyze $(JOBS)

warnings-clang: build-clang/configured
	@echo "== clang: warnings are errors"
	@$(call build,build-clang)

# Not again where build/ was made so, as by .ci/run.
strict = grep -qs 'CBX_WERROR:BOOL=ON' build/CMakeCache.txt && grep -qs 'CMAKE_C_COMPILER:.*/\(cc\|gcc\)$$' build/CMakeCache.txt
warnings-gcc:
	@if $(strict); then echo "== gcc: warnings were errors in build/"; else $(again) run-warnings-gcc; fi

.PHONY: run-warnings-gcc
run-warnings-gcc: build-gcc/configured
	@echo "== gcc: warnings are errors"
	@$(call build,build-gcc)

# Races between threads; see scripts/tsan.sh for why this takes clang. Its runtime is a package
# of its own: without, nothing links.
tsan tsan-short: bootstrap
	@echo "== thread sanitizer"
	@if echo 'int main(void) { return 0; }' | clang -fsanitize=thread -x c -o /dev/null - 2> /dev/null; \
	then $(again) run-$@; else echo "clang cannot link it here (libclang-rt-dev): skipped"; fi

.PHONY: run-tsan run-tsan-short
run-tsan run-tsan-short: build-tsan/configured
	@JOBS=$(JOBS) scripts/tsan.sh build-tsan $(if $(findstring short,$@),short)

# The unit tests under memcheck: some minutes, with -short half of one, with -all more than an hour.
valgrind valgrind-short valgrind-all: bootstrap build/configured
	@echo "== valgrind"
	@$(call build,build)
	@scripts/valgrind.sh build $(patsubst valgrind-%,%,$(filter valgrind-%,$@))

stack:
	@echo "== stack"
	@scripts/check-stack.sh

# 100 kills of a benchmark and of a training, full disks, wrong clocks, …: some minutes.
faults: all
	@scripts/faults.sh long

cross-arm64: bootstrap build-arm64/configured
	@echo "== libcombinex.a and libcombinex-kit.a for 64-bit ARM"
	@$(call build,build-arm64) --target combinex_kit_static
