# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-40 a session that a command planted gets nothing of a client's, and its record has nobody killed
# layers: launch
# no mutant: it is about what a client of sessions believes, outside of any sandbox
# seconds: 60
source "$ESCAPE/lib.bash"

command -v python3 >/dev/null || skip "no python3"
# A command makes what a registry looks like; a later bawn is told that it is one.
cat >"$WS/plant.py" <<'END'
import json, os, socket, sys
place, kind, victim, target = sys.argv[1:]
sid = os.path.join(place, "bawn", kind)
os.makedirs(sid, 0o700)
for path in place, os.path.dirname(sid):
    os.chmod(path, 0o700)
group = os.path.join(place, "bawn-9-9-9")
os.makedirs(group + "/below")
with open(group + "/cgroup.procs", "w") as procs:
    procs.write(victim + "\n")
if kind == "writes":
    os.symlink(target, group + "/cgroup.kill")
with open(sid + "/record.json", "w") as record:
    record.write(json.dumps({"sid": kind, "pid": 9, "start": 9, "started": 1, "command": ["x"],
                             "workspace": "/", "enforcement": "full", "detached": True,
                             "terminal": False, "cgroups": [group]}))
if kind != "listen":
    sys.exit()
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
    os.chdir(sid)
    door.bind("control")
    door.listen(4)
    print("listening", flush=True)
    door.settimeout(10)
    while True:
        client = door.accept()[0]
        client.settimeout(5)
        got, beside = client.recvmsg(1 << 18, 4096)[:2]
        print("got", len(got), len(beside), flush=True)
        if got:
            break
END
sleep 60 &
victim=$!
at_end "kill $victim"
plant "$OUT/file" precious

# Records of sessions that have ended: their groups are taken away, if they are groups.
for kind in killed writes; do
    sandbox -- python3 plant.py "$WS/$kind" "$kind" "$victim" "$OUT/file"
    sandbox_ran
    XDG_RUNTIME_DIR=$WS/$kind timeout 20 "$BAWN" ps >/dev/null 2>&1
    is 0 $? "bawn ps"
done
equal yes "$(kill -0 "$victim" 2>/dev/null && echo yes)" "a process outside lives"
equal precious "$(cat "$OUT/file")" "a file outside"

# One that listens: who talks to it would hand over streams and variables.
"$BAWN" run -C "$WS" -- python3 plant.py "$WS/run" listen "$victim" "$OUT/file" >"$T/said" 2>&1 &
running=$!
at_end "kill $running"
wait_for 10 grep -q listening "$T/said" || broken "nobody listens: $(cat "$T/said")"
for verb in "exec listen -- true" "stop listen" "attach listen" "metrics listen"; do
    # shellcheck disable=SC2086 # words
    XDG_RUNTIME_DIR=$WS/run SECRET=secret timeout 5 "$BAWN" $verb </dev/null >"$T/answer" 2>&1
    equal 125 $? "$verb"
done
equal '' "$(grep -v ' 0 0$' "$T/said" | grep got)" "what came"
