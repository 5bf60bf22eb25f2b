#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # for the inner shell; run sets output, status and stderr
# Rules for firewalls: their text, and what sockets of the user get where they are loaded. That is in network
# namespaces of the test's own.

load common

GOLDEN=$BATS_TEST_DIRNAME/../golden/gen
EVERYTHING=(--proxy-port 3128 --transparent 3129 --dns-port 5300 --port 8080 --port 3128 --loopback)

setup() {
    cli_setup
    export BAWN NET=$BATS_TEST_DIRNAME/gen_net.py PATH=$PATH:/usr/sbin:/sbin
    # Loopback as it is, as the address of this host, and the neighbour.
    export LOOPBACK="tcp:127.0.0.1:9090 tcp:::1:9090 tcp:127.0.0.2:9090 udp:127.0.0.1:9090"
    export NAMES="udp:127.0.0.53:53 tcp:127.0.0.1:53 udp:::1:53 udp:192.0.2.2:53 udp:2001:db8::2:53 tcp:192.0.2.2:53"
    export OWN="tcp:192.0.2.1:3128 tcp:2001:db8::1:3128"
    export OUTSIDE="tcp:192.0.2.2:80 tcp:2001:db8::2:80 icmp:192.0.2.2"
    export PROXY="tcp:127.0.0.1:3128 tcp:::1:3128"
}

# within SCRIPT: runs it as root of a network with a neighbour. 'held' and 'free' say what the user that the
# rules are for gets, and what another gets; 'load' and 'unload' are the test's.
within() {
    local root=(unshare --net --mount --propagation private)
    local words='
        held() { python3 "$NET" try 4321 "$@"; }
        free() { python3 "$NET" try 4322 "$@"; }
        each() { local said=$1 target; shift; for target; do echo "$target $said"; done; }
        same() { diff <(printf "%s\n" "$1") <(printf "%s\n" "$2"); }
        set -e'

    if [[ $(id -u) -ne 0 ]]; then
        root=(unshare --net --mount --map-root-user --map-auto)
    fi
    run "${root[@]}" python3 "$NET" bash -c "$words"$'\n'"$1"
    echo "$output"
    [ "$status" -eq 0 ]
}

# What holds whatever loads the rules.
holds='
    before=$(held $PROXY $LOOPBACK $NAMES $OWN $OUTSIDE)
    if grep -E "refused|silent|late" <<<"$before"; then exit 1; fi
    load --proxy-port 3128
    first=$(listing)
    load --proxy-port 3128
    same "$first" "$(listing)"
    same "$(each loopback:3128 $PROXY; each refused $LOOPBACK $NAMES $OWN $OUTSIDE)" \
        "$(held $PROXY $LOOPBACK $NAMES $OWN $OUTSIDE)"
    same "$before" "$(free $PROXY $LOOPBACK $NAMES $OWN $OUTSIDE)"
    same user:7000$'"'\n'"'user:7000 "$(python3 "$NET" serve 4321 7000)"

    load --proxy-port 3128 --port 9090
    same "$(each loopback:9090 tcp:127.0.0.1:9090 tcp:::1:9090; each refused tcp:127.0.0.2:9090 udp:127.0.0.1:9090)" \
        "$(held $LOOPBACK)"
    load --proxy-port 3128 --loopback
    same "$(each loopback:9090 $LOOPBACK; each refused $NAMES $OWN $OUTSIDE)" "$(held $LOOPBACK $NAMES $OWN $OUTSIDE)"

    load --transparent 3129 --dns-port 5300
    same "$(each refused $PROXY $LOOPBACK icmp:192.0.2.2)" "$(held $PROXY $LOOPBACK icmp:192.0.2.2)"
    for target in $OWN tcp:192.0.2.2:80 tcp:2001:db8::2:80; do
        same "$target loopback:3129 for ${target#tcp:}" "$(held $target)"
    done
    for target in $NAMES; do
        [[ $(held $target) == "$target loopback:5300"* ]]
    done
    same "$before" "$(free $PROXY $LOOPBACK $NAMES $OWN $OUTSIDE)"

    # What redirected before does so no longer.
    load --proxy-port 3128
    same "$first" "$(listing)"
    unload
    same "$before" "$(held $PROXY $LOOPBACK $NAMES $OWN $OUTSIDE)"'

@test "gen: each text is what it was" {
    local kind

    for kind in nft iptables pf; do
        diff "$GOLDEN/$kind.txt" <("$BAWN" gen "$kind" --uid 987654 --proxy-port 3128)
        diff "$GOLDEN/$kind-all.txt" <("$BAWN" gen "$kind" --uid 987654 "${EVERYTHING[@]}")
    done
    diff "$GOLDEN/iptables-cleanup.txt" <("$BAWN" gen iptables-cleanup --uid 987654)
    diff "$GOLDEN/iptables-cleanup.txt" <("$BAWN" gen iptables-cleanup --uid 987654 "${EVERYTHING[@]}")
    "$BAWN" gen iptables --uid 987654 "${EVERYTHING[@]}" >script
    shellcheck script
    "$BAWN" gen iptables-cleanup --uid 987654 >script
    shellcheck script
}

@test "gen: a user has a name or a number, and JSON has the same text" {
    run -0 "$BAWN" gen nft --uid daemon --proxy-port 3128
    [[ ${lines[0]} == "# What user 1 (daemon) may reach."* && $output == *"meta skuid 1 goto user"* ]]
    [ "$output" = "$("$BAWN" gen nft --uid 1 --proxy-port 3128)" ]
    run -0 "$BAWN" gen nft --uid daemon --proxy-port 3128 --json
    is_json "$output"
    [ "$(json_get "$output" 'd["format"]')" = nft ]
    [ "$(json_get "$output" 'd["text"]')" = "$("$BAWN" gen nft --uid daemon --proxy-port 3128)" ]
}

# refused WHY OPTION...: gen does not print a thing, and says why.
refused() {
    run --separate-stderr -125 "$BAWN" gen "${@:2}"
    [[ -z $output && $stderr == "bawn: $1"*"hint: "* ]] || { echo "$output$stderr" && false; }
}

@test "gen: refuses root, unknown users and bad ports" {
    local kind port

    for kind in nft iptables pf; do
        refused "--uid is missing" "$kind" --proxy-port 3128
        refused "--proxy-port is missing" "$kind" --uid daemon
        refused "--proxy-port is missing" "$kind" --uid daemon --dns-port 53 --loopback
        refused "'root': without root's network" "$kind" --uid root --proxy-port 3128
        refused "'0': without root's network" "$kind" --uid 0 --proxy-port 3128
        refused "'nobody-at-all': there is no such user" "$kind" --uid nobody-at-all --proxy-port 3128
        refused "'4294967295': there is no such user" "$kind" --uid 4294967295 --proxy-port 3128
        refused "'-1': there is no such user" "$kind" --uid=-1 --proxy-port 3128
        refused "'': there is no such user" "$kind" --uid= --proxy-port 3128
        for port in 0 65536 http 12x -1 '' '1 2'; do
            refused "--proxy-port: '$port' is no port" "$kind" --uid daemon --proxy-port="$port"
            refused "--transparent: '$port' is no port" "$kind" --uid daemon --transparent="$port"
            refused "--dns-port: '$port' is no port" "$kind" --uid daemon --dns-port="$port"
            refused "--port: '$port' is no port" "$kind" --uid daemon --port="$port"
        done
    done
    refused "--uid is missing" iptables-cleanup
    refused "'root': without root's network" iptables-cleanup --uid root
    run --separate-stderr -125 "$BAWN" gen iptable --uid daemon
    [[ $stderr == *"did you mean 'iptables'?"* ]]
}

@test "gen nft: the user reaches the proxy, all else is refused at once, others are not held" {
    within '
        load() { "$BAWN" gen nft --uid 4321 "$@" | nft -f -; }
        listing() { nft list ruleset; }
        unload() { nft delete table inet bawn_4321; }
        nft add table inet mine
        nft add chain inet mine output "{ type filter hook output priority -10; policy accept; }"
        nft add rule inet mine output accept
        clean=$(listing)
        '"$holds"'
        same "$clean" "$(listing)"'
}

# As in a host where iptables is the one or the other.
iptables_holds() {
    local program

    mkdir bin
    for program in iptables iptables-restore iptables-save ip6tables ip6tables-restore ip6tables-save; do
        ln -s "$(command -v "${program/tables/tables-$1}")" "bin/$program"
    done
    within '
        PATH=$PWD/bin:$PATH
        export XTABLES_LOCKFILE=$PWD/lock
        load() { "$BAWN" gen iptables --uid 4321 "$@" | sh; }
        unload() { "$BAWN" gen iptables-cleanup --uid 4321 | sh; }
        listing() { for program in iptables ip6tables; do
            for table in filter nat; do $program -t $table -S; done
        done; }
        for program in iptables ip6tables; do
            $program -A OUTPUT -m owner --uid-owner 4321 -j ACCEPT
            $program -N bawn-43210
            $program -A OUTPUT -j bawn-43210
            $program -t nat -A OUTPUT -p tcp --dport 1 -j REDIRECT --to-ports 2
        done
        clean=$(listing)
        '"$holds"'
        same "$clean" "$(listing)"
        unload
        same "$clean" "$(listing)"'
}

@test "gen iptables: the same, with iptables-nft; the cleanup removes that and nothing else" {
    iptables_holds nft
}

@test "gen iptables: the same, with iptables-legacy" {
    iptables_holds legacy
}

@test "gen: the ids of /etc/subuid are held, and one that is root's is refused" {
    printf '4321:50000:10\nother:51000:10\n4321:50005:100\n4321:52000:1\n' >subuid
    within '
        mount --bind subuid /etc/subuid
        before=$(held $OUTSIDE)
        "$BAWN" gen nft --uid 4321 --proxy-port 3128 | nft -f -
        for uid in 50000 50009 50104 52000; do
            same "$(each loopback:3128 $PROXY; each refused $OUTSIDE)" "$(python3 "$NET" try $uid $PROXY $OUTSIDE)"
        done
        for uid in 49999 50105 51000 52001; do
            same "$before" "$(python3 "$NET" try $uid $OUTSIDE)"
        done
        nft delete table inet bawn_4321
        "$BAWN" gen iptables --uid 4321 --proxy-port 3128 | XTABLES_LOCKFILE=$PWD/lock sh
        for uid in 4321 50000 50104 52000; do
            same "$(each loopback:3128 $PROXY; each refused $OUTSIDE)" "$(python3 "$NET" try $uid $PROXY $OUTSIDE)"
        done
        # The list may change before the cleanup.
        : >subuid
        "$BAWN" gen iptables-cleanup --uid 4321 | XTABLES_LOCKFILE=$PWD/lock sh
        if iptables -S | grep bawn; then exit 1; fi
        echo 4321:0:10 >subuid
        if "$BAWN" gen nft --uid 4321 --proxy-port 3128 2>said; then exit 1; fi
        grep -q "root.s uid" said'
}
