#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much bawn-net costs: through it, against a direct connection on loopback, by turns.

    tests/net/bench.py [--build DIR] [--rounds N]"""
import argparse
import os
import statistics
import subprocess
import sys
import time

from harness import Net, enter_namespace, program


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    enter_namespace()
    bench = program(build, "bench_net")
    server = subprocess.Popen([bench, "serve", "127.0.0.2", "9"])
    net = Net(build, ["opaque=raw.test", "pin=raw.test=127.0.0.2"])
    time.sleep(0.3)

    def measure(what, *host):
        return float(subprocess.run([bench, what, "9", *host], check=True, stdout=subprocess.PIPE).stdout)

    for what, unit, divisor in (("send", "MB/s", 1e6), ("get", "MB/s", 1e6), ("trip", "trips/s", 1),
                                ("connect", "connections/s", 1)):
        direct, through = [], []
        for _ in range(options.rounds):
            direct.append(measure(what))
            through.append(measure(what, "raw.test"))
        ratio = statistics.median(through) / statistics.median(direct)
        print(f"{what}: direct {statistics.median(direct) / divisor:.0f} {unit}, "
              f"through bawn-net {statistics.median(through) / divisor:.0f} {unit}: "
              f"{ratio:.2f} of the rate, {1 / ratio:.2f} of the time", flush=True)
    net.stop()
    server.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main())
