# SPDX-License-Identifier: Apache-2.0
# The front door; meson and ninja do the work.
BUILD ?= build
PREFIX ?= /usr/local
# Shells but bash leave the tilde of PREFIX=~/.local as it is.
override PREFIX := $(patsubst ~/%,$(HOME)/%,$(PREFIX))
# Below every prefix the same place, whatever Debian's tools are installed.
PLACES = --prefix=$(PREFIX) --libdir=lib
FUZZ_SECONDS ?= 60
BENCH_RUNS ?= 100
TRUTH_SECONDS ?= 600
TRUTH_SEED ?= $(shell date +%s)
TRUTH_USER ?= bawn-test
DIFFER_SECONDS ?= 600
DIFFER_SEED ?= $(shell date +%s)
DIFFER_USER ?= bawn-test

.PHONY: all run check test conformance test-agents test-plain test-deb test-work test-vm deb mutation lint fuzz truth differ churn bench install clean

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) programs

$(BUILD)/build.ninja:
	@scripts/deps.sh build
	@meson setup $(BUILD) $(PLACES) >/dev/null

# Runs a command inside, in the current directory, and shows what it could do and what not.
run: all
	@scripts/tour.sh $(BUILD)/bawn

# What to run after every change: one build, quick lint, the suite, a sample of the battery.
check:
	@scripts/deps.sh build test
	@scripts/test.sh --quick

# Everything CI checks: lint, unit, vectors, corpora, command line; plain and sanitized, as root
# and as an ordinary user.
test:
	@scripts/deps.sh build test deb
	@command -v npm >/dev/null || scripts/deps.sh npm
	@scripts/test.sh

# Every row of the vectors asked of the query and tried in a sandbox, as root and as an ordinary
# user. As root.
conformance: all
	@scripts/deps.sh build test
	@tests/conformance/run --bawn $(BUILD)/bawn

# Coding agents from npm, started inside with their presets, in the lab; about 1.5 GB below the build folder.
# As root.
test-agents: all
	@scripts/deps.sh build test
	@BAWN=$(BUILD)/bawn AGENTS=$(abspath $(BUILD)/agents) bats tests/live/agents.bats

# All tests of the filtered network again where nf_tables is missing, as root and as an ordinary user. As root.
test-plain: all
	@scripts/deps.sh build test
	@tests/net/client/build.sh $(BUILD)/tests/net
	@for user in root bawn-test; do \
		tests/net/lab --user $$user -- python3 $(CURDIR)/tests/net/plain.py --bawn $(abspath $(BUILD)/bawn) || exit 1; \
		for part in clients contain counts ports; do tests/net/without_nft tests/net/lab --user $$user -- \
			python3 $(CURDIR)/tests/net/$$part.py --bawn $(abspath $(BUILD)/bawn) \
			$$([ $$part != clients ] || echo --clients $(abspath $(BUILD)/tests/net) --lane test) || exit 1; done; done

# Whole pieces of work (C, Rust, Go, Java, Node, Python, git, SQLite, a web server, podman) outside and
# inside, with a table of what it costs. From root, as an ordinary user. Then the network's clients of these
# toolchains, as both.
test-work: all
	@scripts/deps.sh build test work
	@command -v npm >/dev/null || scripts/deps.sh npm
	@python3 tests/live/work.py --bawn $(BUILD)/bawn --sources $(BUILD)/work-sources
	@tests/net/client/build.sh $(BUILD)/tests/net
	@for user in root bawn-test; do tests/net/lab --user $$user -- python3 $(CURDIR)/tests/net/clients.py \
		--bawn $(abspath $(BUILD)/bawn) --clients $(abspath $(BUILD)/tests/net) --lane work || exit 1; done

# Debian packages in the folder deb of the build; lintian must be content.
deb:
	@scripts/deps.sh build deb
	@scripts/deb.sh $(BUILD)/deb

# Whether another build makes the same packages, and whether they can be installed, used, upgraded and
# removed: here, and on Debian 12 and 13, always in a copy. In a virtual machine, whether their AppArmor
# profile gives what it is for. As root.
test-deb: deb
	@scripts/deps.sh test deb roots vm
	@scripts/test-deb.sh $(BUILD)/deb bookworm trixie

# What this machine's kernel cannot show: stock kernels with cgroup v2, in a virtual machine.
test-vm: all
	@scripts/deps.sh build test vm
	@ninja -C $(BUILD)
	@scripts/test-vm.sh

# The battery again and again, each time with one layer of the sandbox taken out: which cases
# notice. As root.
mutation: all
	@scripts/deps.sh build test
	@ninja -C $(BUILD) tests/mutant/bawn tests/mutant/bawn-git tests/mutant/bawn-net \
		tests/mutant/bawn-policy
	@tests/escape/run --bawn $(BUILD)/tests/mutant/bawn --mutation

lint:
	@scripts/deps.sh build lint
	@scripts/lint.sh

# FUZZ_SECONDS for each target, two at a time.
fuzz:
	@scripts/deps.sh build fuzz
	@scripts/fuzz.sh $(FUZZ_SECONDS)

# Whether check, the kernel and kept plans agree, for TRUTH_SECONDS; as root also as TRUTH_USER.
truth: all
	@scripts/deps.sh build test
	@python3 tests/truth/truth.py --bawn $(BUILD)/bawn --seconds $(TRUTH_SECONDS) --seed $(TRUTH_SEED)
	@[ "$$(id -u)" -ne 0 ] || python3 tests/truth/truth.py --bawn $(BUILD)/bawn --user $(TRUTH_USER) \
		--seconds $(TRUTH_SECONDS) --seed $(TRUTH_SEED)

# Whether file calls give inside what they give outside, for DIFFER_SECONDS; as root also as DIFFER_USER.
differ: all
	@scripts/deps.sh build test
	@ninja -C $(BUILD) tests/differ
	@python3 tests/differ/differ.py --bawn $(BUILD)/bawn --seconds $(DIFFER_SECONDS) --seed $(DIFFER_SEED)
	@python3 tests/differ/differ.py --bawn $(BUILD)/bawn --seconds $(DIFFER_SECONDS) --seed $(DIFFER_SEED) \
		--overlay --mode alone --place disk
	@[ "$$(id -u)" -ne 0 ] || python3 tests/differ/differ.py --bawn $(BUILD)/bawn --user $(DIFFER_USER) \
		--seconds $(DIFFER_SECONDS) --seed $(DIFFER_SEED)

# What questions cost, and what the sandbox costs beside other tools; the tables in docs are made
# anew. BENCH_RUNS for each start.
churn: all
	@ninja -C $(BUILD) tests/net_image
	@tests/net/run.py --build $(BUILD) --churn 1000000 many_connections_leave_nothing

bench: all
	@scripts/deps.sh build bench
	@ninja -C $(BUILD) tests/bench_query tests/bench_spawn tests/bench_calls tests/bench_exec tests/bench_net
	@$(BUILD)/tests/bench_query
	@scripts/bench.py --build $(BUILD) --runs $(BENCH_RUNS) --write

install: $(BUILD)/build.ninja
	@meson configure $(BUILD) $(PLACES)
	@ninja -C $(BUILD) programs
	@meson install -C $(BUILD) --no-rebuild
	@[ -n "$(DESTDIR)" ] || [ "$$(id -u)" -ne 0 ] || /sbin/ldconfig

clean:
	rm -rf build build-asan build-clang build-fuzz build-fuzz-plain build-roots build-vm
