# SPDX-License-Identifier: Apache-2.0
# The front door; meson and ninja do the work.
BUILD ?= build
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60

.PHONY: all run test lint fuzz bench install clean

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@scripts/deps.sh build
	@meson setup $(BUILD) --prefix=$(PREFIX) >/dev/null

# Shows what bawn does, in the current directory.
run: all
	@scripts/tour.sh $(BUILD)/bawn

# Everything CI checks: lint, unit, vectors, corpora, command line; plain and sanitized, as root
# and as an ordinary user.
test:
	@scripts/deps.sh build test
	@scripts/test.sh

lint:
	@scripts/deps.sh build lint
	@scripts/lint.sh

# FUZZ_SECONDS for each target, two at a time.
fuzz:
	@scripts/deps.sh build fuzz
	@scripts/fuzz.sh $(FUZZ_SECONDS)

bench: all
	@ninja -C $(BUILD) tests/bench_query
	@$(BUILD)/tests/bench_query

install: all
	@meson configure $(BUILD) --prefix=$(PREFIX)
	@meson install -C $(BUILD)

clean:
	rm -rf build build-asan build-clang build-fuzz
