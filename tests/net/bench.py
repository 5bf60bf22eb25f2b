#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the filtered network costs: from inside bawn against a direct connection on loopback, and against a pair of
socats that relay the same bytes. Everything is measured by turns. In the lab.

    tests/net/lab -- tests/net/bench.py [--bawn PROGRAM] [--bench PROGRAM] [--rounds N] [--json]"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

BUILD = Path(__file__).resolve().parent.parent.parent / "build"
SERVER, PORT, SOCAT_PORT, NAME = "127.0.0.2", 9, 10, "bench.example"
# By a rule that says opaque: handed over, where that can be held.
OPAQUE = f"""sandbox:
  network:
    mode: proxy
    allow:
      - {{host: "{NAME}:{PORT}", opaque: true}}
      - {{host: "{SERVER}:{PORT}", opaque: true}}
    hosts: {{{NAME}: {SERVER}}}
"""
# Without a rule, to an address that only the lab has: relayed.
PUBLIC = "203.0.113.9"
RELAYED = f"""sandbox:
  network:
    mode: isolated
    hosts: {{{NAME}: {PUBLIC}}}
"""
RATES = {"send": ("MB/s", 1e6), "get": ("MB/s", 1e6), "trip": ("trips/s", 1), "connect": ("connections/s", 1)}


class Bench:
    def __init__(self, options, folder):
        self.bench = str(folder / "bench_net")
        shutil.copy(options.bench, self.bench)
        self.folder, self.running = folder, []
        bawn = [str(Path(options.bawn).resolve())]
        self.inside = [*bawn, "run", *self.policy("relayed.yaml", RELAYED), "--"]
        self.opaque = [*bawn, "run", *self.policy("opaque.yaml", OPAQUE), "--"]
        plan = subprocess.run([*bawn, "plan", "--isolated", "--policy", str(folder / "opaque.yaml")], check=False,
                              stdout=subprocess.PIPE).stdout
        self.hands_over = b"connections are handed over" in plan
        self.start([self.bench, "serve", SERVER, str(PORT)])
        self.start([self.bench, "serve", PUBLIC, str(PORT)])
        self.has_socat = shutil.which("socat") is not None
        if self.has_socat:
            # As other tools go out of a sandbox: from its loopback to a socket in the file system, and on.
            path = folder / "socat"
            self.start(["socat", f"UNIX-LISTEN:{path},fork", f"TCP:{SERVER}:{PORT},nodelay"])
            self.start(["socat", f"TCP-LISTEN:{SOCAT_PORT},bind={SERVER},fork,reuseaddr,nodelay", f"UNIX:{path}"])
        time.sleep(0.5)

    def policy(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return ["-q", "--isolated", "--limits", "none", "--policy", str(path)]

    def start(self, words):
        self.running.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                             stderr=subprocess.DEVNULL))

    def stop(self):
        for process in self.running:
            process.terminate()
            process.wait()

    def run(self, *words):
        done = subprocess.run([str(word) for word in words], cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, check=False)
        if done.returncode != 0:
            sys.exit(f"bench: {' '.join(map(str, words))}: {done.returncode}")
        return [float(word) for word in done.stdout.split()]

    def ways(self, what):
        """By name: the words that measure it."""
        ways = {"direct": [self.bench, what, PORT],
                "bawn": [*self.inside, self.bench, what, PORT, NAME, "itself"]}
        if self.hands_over:
            ways["handed"] = [*self.opaque, self.bench, what, PORT, NAME, "itself"]
        if what in ("send", "get"):
            ways["proxy"] = [*self.inside, self.bench, what, PORT, NAME]
            if self.has_socat:
                ways["socat"] = [self.bench, what, SOCAT_PORT]
        return ways

    def rates(self, what, rounds):
        ways = self.ways(what)
        found = {name: [] for name in ways}
        for _ in range(rounds):
            for name, words in ways.items():
                found[name] += self.run(*words)
        return found

    def first(self, rounds):
        """Milliseconds that the first connection of a sandbox takes more than a later one: the least, the median."""
        times = [self.run(*self.inside, self.bench, "first", PORT, NAME, "itself") for _ in range(4 * rounds)]
        least = min(later for _, later in times)
        return [(min(first for first, _ in times) - least) / 1e3,
                (statistics.median(first for first, _ in times) - statistics.median(later for _, later in times)) / 1e3]


def compare(rates, base, way="bawn"):
    """How many times the rate of the base: of the best rounds, of the medians."""
    return [max(rates[way]) / max(rates[base]), statistics.median(rates[way]) / statistics.median(rates[base])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bawn", default=BUILD / "bawn")
    parser.add_argument("--bench", default=BUILD / "tests/bench_net")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print one document of the ratios")
    parser.add_argument("what", nargs="*", default=["first", *RATES])
    options = parser.parse_args()
    bench, ratios = Bench(options, Path(os.environ["LAB_WORK"])), {}
    try:
        if "first" in options.what:
            ratios["first"] = bench.first(options.rounds)
        for what, (unit, divisor) in RATES.items():
            if what not in options.what:
                continue
            rates = bench.rates(what, options.rounds)
            ratios[what] = compare(rates, "direct")
            if "handed" in rates:
                ratios[what + " handed"] = compare(rates, "direct", "handed")
            if "socat" in rates:
                ratios[what + " socat"] = compare(rates, "socat")
            if not options.json:
                print(f"{what}: " + ", ".join(f"{name} {max(values) / divisor:.0f} ({statistics.median(values) / divisor:.0f})"
                                              for name, values in rates.items()) + f" {unit}", flush=True)
    finally:
        bench.stop()
    if options.json:
        print(json.dumps(ratios))
    else:
        for name, (best, middle) in ratios.items():
            print(f"{name}: {best:.2f} ({middle:.2f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
