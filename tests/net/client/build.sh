#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build.sh DIR: makes the clients that must be built, those whose compilers are here. Once: what is newer than
# its source stays.
set -euo pipefail
PATH=/usr/local/bin:/usr/bin:/bin
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"

# needs MADE SOURCE TOOL: whether it is to be made, and can be.
needs() {
    command -v "$3" >/dev/null && [ ! "$1" -nt "$here/$2" ]
}

if needs static client.c musl-gcc; then
    musl-gcc -O1 -Wall -Wextra -Werror -static -o static "$here/client.c"
fi
if needs glibc client.c gcc; then
    gcc -O1 -Wall -Wextra -Werror -o glibc "$here/client.c"
fi
if needs go client.go go; then
    GOCACHE=$PWD/go-cache GOPATH=$PWD/go-path GO111MODULE=off CGO_ENABLED=0 go build -o go "$here/client.go"
    rm -rf go-cache go-path
fi
if needs rust client.rs rustc; then
    rustc -O -o rust "$here/client.rs"
fi
if needs Client.class Client.java javac; then
    javac -d . "$here/Client.java"
fi
chmod -R a+rX .
