#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""clients.py [--bawn PROGRAM] [--clients DIR] [--lane test|work] [NAME]...: programs that know nothing of bawn
reach what is allowed and are refused elsewhere. In the lab. TAP on standard output.

Of each client four things are tried: that it works in the lab without bawn, so that what follows tells of
bawn; that it reaches an allowed name with every variable of a proxy unset; that it does with these variables
as bawn sets them; and that it is refused elsewhere at once, while the lab sees neither a question nor a packet.
"""
import argparse
import os
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from world import BARE, HERE, Tap, World, asked, reached, requests, works  # noqa: E402

BUILD = HERE.parent.parent / "build"
REFUSED_SECONDS = 12
ALLOWED = {"web.example": ["203.0.113.10", "2001:db8::10"], "six.example": ["2001:db8::16"],
           "four.example": ["203.0.113.14"]}
DENIED = ["203.0.113.66", "2001:db8::66"]
SSH = ("ssh -F none -i key -o IdentitiesOnly=yes -o LogLevel=ERROR -o StrictHostKeyChecking=no"
       " -o UserKnownHostsFile=/dev/null")
UPLOAD = 'head -c 5000000 /dev/zero | curl -sSf --data-binary @- "$0"'
DOWNLOAD = 'set -o pipefail; curl -sSf "$0" | wc -c'
PYTHON = "/usr/bin/python3"
CLONE = 'git clone -q "$0" clone && head -n1 clone/README'
URLLIB = "import sys, urllib.request as r; print(r.urlopen(sys.argv[1], timeout=20).read().decode())"
PERL = ('my $got = HTTP::Tiny->new(timeout => 20)->get($ARGV[0]); print $got->{content};'
        'exit !$got->{success}')
PERL_SOCKET = ('my $s = IO::Socket::IP->new(PeerHost => $ARGV[0], PeerPort => 80, Timeout => 20) or exit 1;'
               'print $s "GET $ARGV[1] HTTP/1.1\\r\\nHost: $ARGV[0]\\r\\nConnection: close\\r\\n\\r\\n";'
               'my $got = join "", <$s>; print $got; exit $got !~ m{^HTTP/1.1 200};')
NPM = ('mkdir npm; npm install --silent --no-audit --no-fund --fetch-retries 0 --cache npm/cache'
       ' --prefix npm --registry "$0" part; status=$?; cat npm/node_modules/part/package.json; exit $status')
PIP = ('/usr/bin/python3 -m pip download -q --no-deps --no-cache-dir --disable-pip-version-check'
       ' --retries 0 -d pip --trusted-host "$1" -i "$0" part && ls pip')


class Client:
    """A row: how it is started for a host, and what it then prints."""

    def __init__(self, name, needs, command, said="lab /here", lane="test", host="web.example", port=None, env=None):
        self.name, self.needs, self.command, self.said = name, needs, command, said
        self.lane, self.host, self.port, self.env = lane, host, port, env or {}


def clients(built):
    """All of them; built is where build.sh put what it made."""
    ca = {"SSL_CERT_FILE": "ca.pem"}
    node = {"NODE_EXTRA_CA_CERTS": "ca.pem"}
    return [
        Client("curl", ["curl"], lambda h: ["curl", "-sSf", f"http://{h}/here"]),
        Client("curl, https", ["curl"], lambda h: ["curl", "-sSf", "--cacert", "ca.pem", f"https://{h}/here"]),
        Client("curl, two requests", ["curl"], lambda h: ["curl", "-sSf", f"http://{h}/first", f"http://{h}/here"]),
        Client("curl, an upload", ["curl"], lambda h: ["sh", "-c", UPLOAD, f"http://{h}/sum"], "5000000 b3978158"),
        Client("curl, an upload in chunks", ["curl"],
               lambda h: ["sh", "-c", UPLOAD + " -H Transfer-Encoding:chunked", f"https://{h}/sum"], "5000000 b3978158",
               env={"CURL_CA_BUNDLE": "ca.pem"}),
        Client("curl, a download", ["curl"], lambda h: ["bash", "-c", DOWNLOAD, f"https://{h}/big?bytes=30000000"],
               "30000000", env={"CURL_CA_BUNDLE": "ca.pem"}),
        Client("wget", ["wget"], lambda h: ["wget", "-qO-", "-t1", f"http://{h}/here"]),
        Client("wget, https", ["wget"],
               lambda h: ["wget", "-qO-", "-t1", "--ca-certificate=ca.pem", f"https://{h}/here"]),
        Client("python urllib", [PYTHON], lambda h: [PYTHON, "-c", URLLIB, f"http://{h}/here"]),
        Client("python urllib, https", [PYTHON], lambda h: [PYTHON, "-c", URLLIB, f"https://{h}/here"], env=ca),
        Client("python asyncio", [PYTHON], lambda h: [PYTHON, HERE / "client/streams.py", h, "/here"], env=ca),
        Client("node fetch", ["node"], lambda h: ["node", HERE / "client/fetch.mjs", f"https://{h}/here"], env=node),
        Client("node http2", ["node"], lambda h: ["node", HERE / "client/h2.mjs", f"https://{h}:8443/here"], port=8443,
               env=node),
        Client("git over http", ["git"], lambda h: ["sh", "-c", CLONE, f"http://{h}/git/part.git"], "a part"),
        Client("git over https", ["git"], lambda h: ["sh", "-c", CLONE, f"https://{h}/git/part.git"], "a part",
               env={"GIT_SSL_CAINFO": "ca.pem"}),
        Client("git over ssh", ["git", "ssh", "dropbear"],
               lambda h: ["sh", "-c", CLONE, f"lab-git@{h}:{os.environ['LAB']}/git/part.git"], "a part", port=22,
               env={"GIT_SSH_COMMAND": SSH}),
        Client("perl HTTP::Tiny", ["perl"], lambda h: ["perl", "-MHTTP::Tiny", "-e", PERL, f"http://{h}/here"]),
        Client("perl IO::Socket", ["perl"], lambda h: ["perl", "-MIO::Socket::IP", "-e", PERL_SOCKET, h, "/here"]),
        Client("glibc", [built / "glibc"], lambda h: [built / "glibc", h, "80", "/here"]),
        Client("static, musl", [built / "static"], lambda h: [built / "static", h, "80", "/here"]),
        Client("IPv6 only", [PYTHON], lambda h: [PYTHON, HERE / "client/six.py", h, "/here"], host="six.example"),
        Client("IPv6 only, a name with both", [PYTHON], lambda h: [PYTHON, HERE / "client/six.py", h, "/here"]),
        Client("IPv4 only", ["curl"], lambda h: ["curl", "-4sSf", f"http://{h}/here"], host="four.example"),
        Client("java.net.http", ["java", built / "Client.class"],
               lambda h: ["java", "-cp", built, "Client", f"http://{h}/here"], lane="work"),
        Client("Go net/http", [built / "go"], lambda h: [built / "go", f"https://{h}/here"], env=ca, lane="work"),
        Client("Rust TcpStream", [built / "rust"], lambda h: [built / "rust", h, "/here"], lane="work"),
        Client("npm", ["npm"], lambda h: ["sh", "-c", NPM, f"http://{h}/www/npm/{h}/"], '"part"', lane="work"),
        Client("pip", ["/usr/bin/pip3"], lambda h: ["sh", "-c", PIP, f"http://{h}/www/simple/", h], "part-1.0",
               lane="work"),
    ]


class Matrix:
    def __init__(self, options):
        self.tap = Tap(options.without_sandbox)
        self.without = options.without_sandbox
        self.built = Path(options.clients).resolve()
        self.world = World(options.bawn, not options.without_sandbox, ["--ro", self.built])
        key = self.world.folder / "key"
        if os.path.exists(os.environ["LAB_KEY"]):
            shutil.copy(os.environ["LAB_KEY"], key)
            key.chmod(0o600)

    def begin(self):
        """A workspace without what the last client left there; where the log is."""
        for name in ("clone", "npm", "pip"):
            shutil.rmtree(self.world.folder / name, ignore_errors=True)
        return self.world.witness.settle()

    def saw(self, client, events, addresses):
        """Whether the lab saw the client arrive, by its connection and, but for ssh, its request."""
        port = client.port
        works(reached(events, addresses, port), f"no packet to {addresses}")
        if port != 22:
            works(any(event["address"] in addresses for event in requests(events)), "no request")

    def works(self, client):
        for host, addresses in ((client.host, ALLOWED[client.host]), ("other.example", DENIED)):
            start = self.begin()
            status, output, errors, _ = self.world.run(client.command(host), client.env)
            works(status == 0 and client.said in output, f"{host}: status {status}\n{output}{errors}")
            self.saw(client, self.world.witness.since(start), addresses)

    def sandbox(self, client, host, bare):
        rule = f"{client.host}:{client.port}" if client.port else client.host
        rule += " opaque" if client.port == 22 else ""
        command = [*(BARE if bare else []), *client.command(host)]
        options = ["--preset", "git"] if "git" in client.needs else []
        return self.world.sandbox(command, [rule], options, env=client.env)

    def reaches(self, client, bare):
        start = self.begin()
        status, output, errors, _ = self.sandbox(client, client.host, bare)
        works(status == 0 and client.said in output, f"status {status}\n{output}{errors}")
        events = self.world.witness.since(start)
        self.saw(client, events, ALLOWED[client.host])
        assert not reached(events, DENIED), "a packet to another host"

    def refused(self, client):
        start = self.begin()
        status, output, errors, seconds = self.sandbox(client, "other.example", True)
        events = self.world.witness.since(start)
        said = f"status {status}\n{output}{errors}"
        assert status not in (0, 124, 125) and client.said not in output, said
        assert not asked(events), f"a question left: {asked(events)}"
        assert not reached(events), f"a packet left: {reached(events)}"
        assert seconds < REFUSED_SECONDS, f"{seconds:.1f} s\n{said}"

    def row(self, client):
        missing = [str(need) for need in client.needs if not shutil.which(need) and not os.path.isfile(need)]
        if missing:
            self.tap.skip(client.name, f"no {' '.join(missing)}")
            return
        if self.without:
            self.tap.attempt(f"{client.name}: is refused elsewhere", self.refused, client)
            return
        self.tap.attempt(f"{client.name}: works in the lab", self.works, client)
        self.tap.attempt(f"{client.name}: reaches what is allowed", self.reaches, client, True)
        self.tap.attempt(f"{client.name}: reaches it with the variables", self.reaches, client, False)
        self.tap.attempt(f"{client.name}: is refused elsewhere", self.refused, client)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bawn", default=os.environ.get("BAWN", BUILD / "bawn"))
    parser.add_argument("--clients", default=BUILD / "tests/net", help="where client/build.sh built them")
    parser.add_argument("--lane", choices=["test", "work"], help="only the clients that this lane installs")
    parser.add_argument("--without-sandbox", action="store_true", help="every refusal must go red")
    parser.add_argument("names", nargs="*", help="parts of names; all without")
    options = parser.parse_args()
    matrix = Matrix(options)
    for client in clients(matrix.built):
        if options.lane in (None, client.lane) and (
                not options.names or any(part in client.name for part in options.names)):
            matrix.row(client)
    return matrix.tap.end()


sys.exit(main())
