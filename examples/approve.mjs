#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// approve.mjs [--socket PATH] [--allow PATTERN]... [--deny PATTERN]... [--no-input]: answers what sandboxes ask.
//
// A client of 'bawn supervise' without packages. A question that matches a pattern (of its path, or of
// HOST:PORT; * and ? as in a shell) is answered at once, deny before allow. Others are put to you: y once,
// a for the session, d for its directory, n no; with --no-input they are denied.
import net from "node:net";
import readline from "node:readline";
import { parseArgs } from "node:util";

function usualSocket() {
    const runtime = process.env.XDG_RUNTIME_DIR;
    if (runtime) return `${runtime}/bawn/supervisor`;
    return process.getuid() === 0 ? "/run/bawn/supervisor" : `/tmp/bawn-${process.getuid()}/supervisor`;
}

const { values: options } = parseArgs({
    options: {
        socket: { type: "string", default: usualSocket() },
        allow: { type: "string", multiple: true, default: [] },
        deny: { type: "string", multiple: true, default: [] },
        "no-input": { type: "boolean", default: false },
    },
});

const asPattern = (text) =>
    new RegExp("^" + text.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, "[^]*").replace(/\?/g, "[^]") + "$");
const patterns = { "cmd.deny": options.deny.map(asPattern), "cmd.approve": options.allow.map(asPattern) };

// What a program inside made up may have control characters in it: never print it as it is.
const shown = (text) => JSON.stringify(text).replace(/[^\x20-\x7e]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
const target = (question) =>
    "host" in question ? question.host + ("port" in question ? `:${question.port}` : "") : question.path;

const waiting = new Map(); // id: question, oldest first
const socket = net.connect(options.socket);
let seq = 0;

function say(type, members) {
    socket.write(JSON.stringify({ type, seq: ++seq, ...members }) + "\n");
}

function put() {
    const [question] = waiting.values();
    const words = "[y]es once, [a]lways in this session" + ("grant_tree" in question ? ", [d]irectory" : "") + ", [n]o";
    process.stdout.write(`${question.id}: ${shown(question.exe ?? question.comm ?? "?")} wants to ${question.op} ${shown(target(question))}\n${words}? `);
}

function take(event) {
    if (event.type === "event.fs_request" || event.type === "event.net_request") {
        const found = Object.keys(patterns).find((type) => patterns[type].some((one) => one.test(target(event))));
        const command = found ?? (options["no-input"] ? "cmd.deny" : null);
        if (command) {
            console.log(`${event.id}: ${command === "cmd.approve" ? "allow" : "deny"} ${event.op} ${shown(target(event))}`);
            say(command, { id: event.id });
            return;
        }
        waiting.set(event.id, event);
        if (waiting.size === 1) put();
    } else if (event.type === "event.settled") {
        if (!waiting.delete(event.id)) return;
        console.log(`\n${event.id}: ${event.answer}, by ${event.by}`);
        if (waiting.size > 0) put();
    } else if (event.type === "reply" && event.error) {
        console.error(`refused: ${event.error.message} (${event.error.hint})`);
    }
}

function answer(line) {
    if (waiting.size === 0) return;
    const [question] = waiting.values();
    const scope = { y: "once", a: "host" in question ? "host" : "file", d: "dir" }[line.trim().slice(0, 1).toLowerCase()];
    if (scope) say("cmd.approve", { id: question.id, scope });
    else say("cmd.deny", { id: question.id });
}

socket.on("error", (error) => {
    console.error(`approve.mjs: ${error.message}; is 'bawn supervise' running?`);
    process.exit(1);
});
socket.on("close", () => {
    console.error("the supervisor is gone");
    process.exit(1);
});
socket.on("connect", () => say("cmd.hello", { version: 1 }));
readline.createInterface({ input: socket }).on("line", (line) => take(JSON.parse(line)));
if (!options["no-input"]) {
    readline.createInterface({ input: process.stdin }).on("line", answer).on("close", () => process.exit(0));
}
