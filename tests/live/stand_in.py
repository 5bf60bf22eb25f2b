#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays the model that a coding agent talks to, for one dialogue: the first answer calls the agent's
shell tool, the next one says that all is done. Speaks the streaming protocols of Anthropic (messages),
OpenAI (responses, chat) and Gemini (streamGenerateContent).

stand_in.py PORT SHELL_COMMAND -- AGENT...: runs the agent while it serves, and ends with its status.
"""
import http.server
import json
import subprocess
import sys
import threading

SHELL_TOOLS = ("Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command")
DONE = "The stand-in is done."


def tool_of(request):
    """The name of the shell tool that the agent offers, and which arguments it takes."""
    offered = {}
    for tool in request.get("tools") or []:
        for entry in tool.get("functionDeclarations", [tool]):
            entry = entry.get("function", entry)
            schema = next((entry[key] for key in ("input_schema", "parameters", "parametersJsonSchema")
                           if key in entry), {})
            offered[entry.get("name")] = schema.get("properties", {})
    return next(((name, offered[name]) for name in SHELL_TOOLS if name in offered), (None, {}))


def arguments(properties, command):
    """Values for what such tools call their parameters."""
    values = {"command": command, "cmd": command, "description": "make a file"}
    if properties.get("command", {}).get("type") == "array":
        values["command"] = ["sh", "-c", command]
    return {name: value for name, value in values.items() if name in properties}


def anthropic(name, args):
    yield {"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "stand-in", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}}
    if name:
        block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(args)}
    else:
        block = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": DONE}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "usage": {"output_tokens": 1},
           "delta": {"stop_reason": "tool_use" if name else "end_turn", "stop_sequence": None}}
    yield {"type": "message_stop"}


def responses(name, args):
    if name:
        item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name,
                "arguments": json.dumps(args), "status": "completed"}
    else:
        item = {"type": "message", "id": "m_1", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": DONE, "annotations": []}]}
    yield {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": {
        "id": "resp_1", "status": "completed", "output": [item],
        "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}}


def chat(name, args):
    delta = {"role": "assistant", "content": DONE}
    if name:
        delta = {"role": "assistant", "tool_calls": [
            {"index": 0, "id": "call_1", "type": "function",
             "function": {"name": name, "arguments": json.dumps(args)}}]}
    for change, reason in ((delta, None), ({}, "tool_calls" if name else "stop")):
        yield {"id": "c_1", "object": "chat.completion.chunk", "created": 1, "model": "stand-in",
               "choices": [{"index": 0, "delta": change, "finish_reason": reason}]}


def gemini(name, args):
    part = {"functionCall": {"name": name, "args": args}} if name else {"text": DONE}
    yield {"candidates": [{"index": 0, "finishReason": "STOP",
                           "content": {"role": "model", "parts": [part]}}],
           "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}


# The end of a request's path, the events of the answer, and what shows that the tool was called.
PROTOCOLS = (
    ("/messages", anthropic, '"tool_result"'),
    ("/responses", responses, '"function_call_output"'),
    ("/chat/completions", chat, '"role": "tool"'),
    (":streamGenerateContent", gemini, '"functionResponse"'),
)


class Provider(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        self.answer(404, "application/json", b"{}")

    do_HEAD = do_GET

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.split("?")[0]
        for ending, protocol, called in PROTOCOLS:
            if not path.endswith(ending):
                continue
            request = json.loads(body)
            name, properties = tool_of(request)
            if called in json.dumps(request):
                name = None
            events = protocol(name, arguments(properties, self.server.shell_command))
            text = "".join(("event: %s\n" % event["type"] if "type" in event else "") +
                           "data: %s\n\n" % json.dumps(event) for event in events)
            text += "data: [DONE]\n\n" if protocol is chat else ""
            self.answer(200, "text/event-stream", text.encode())
            return
        self.answer(404, "application/json", b"{}")

    def log_message(self, format, *args):
        print(format % args, file=self.server.log, flush=True)


def main():
    port, shell_command, dashes, *agent = sys.argv[1:]
    assert dashes == "--" and agent
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Provider)
    server.shell_command = shell_command
    server.log = open("stand_in.log", "w", encoding="utf-8")
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.exit(subprocess.call(agent, stdin=subprocess.DEVNULL))


main()
