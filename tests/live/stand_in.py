#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays the models that coding agents talk to, under all their names: the first answer calls the agent's
shell tool, the next one says that all is done. Speaks the streaming protocols of Anthropic (messages),
OpenAI (responses, chat) and Gemini (streamGenerateContent), on port 443 in TLS.

stand_in.py CERTIFICATE KEY RECORD: writes each request to RECORD, an object a line, with the result of
the tool where the agent tells it.
"""
import http.server
import json
import socket
import ssl
import sys

SHELL_TOOLS = ("Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command")
# Takes a script that calls the shell tool.
SCRIPT_TOOL = "exec"
COMMAND = "sh tool.sh"
DONE = "The stand-in is done."
RESULT_CHARACTERS = 2000
CLIENT_SECONDS = 60


def tool_of(request):
    """The name of the shell tool that the agent offers, and which arguments it takes."""
    offered = {}
    for tool in request.get("tools") or []:
        for entry in tool.get("functionDeclarations", [tool]):
            entry = entry.get("function", entry)
            schema = next((entry[key] for key in ("input_schema", "parameters", "parametersJsonSchema")
                           if key in entry), {})
            offered[entry.get("name")] = schema.get("properties", {})
    if '"additional_tools"' in json.dumps(request):
        return SCRIPT_TOOL, {}
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
    if name == SCRIPT_TOOL:
        item = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": name,
                "input": "text(await tools.exec_command(%s));" % json.dumps({"cmd": COMMAND}), "status": "completed"}
    elif name:
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
    ("/responses", responses, 'call_output"'),
    ("/chat/completions", chat, '"role": "tool"'),
    (":streamGenerateContent", gemini, '"functionResponse"'),
)


class Provider(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, kind, body, result=None):
        json.dump({"host": self.headers.get("Host"), "method": self.command, "path": self.path,
                   "status": status, "result": result}, self.server.record)
        self.server.record.write("\n")
        self.server.record.flush()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        """Nothing is there. Who asks for a WebSocket is told at once that there is none."""
        self.answer(426 if "Upgrade" in self.headers else 404, "application/json", b"{}")

    do_HEAD = do_GET

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.split("?")[0]
        for ending, protocol, called in PROTOCOLS:
            if path.endswith(ending):
                self.speak(protocol, called, json.loads(body))
                return
        self.answer(404, "application/json", b"{}")

    def speak(self, protocol, called, request):
        name, properties = tool_of(request)
        _, is_called, result = json.dumps(request).partition(called)
        events = protocol(None if is_called else name, arguments(properties, COMMAND))
        text = "".join(("event: %s\n" % event["type"] if "type" in event else "") +
                       "data: %s\n\n" % json.dumps(event) for event in events)
        text += "data: [DONE]\n\n" if protocol is chat else ""
        self.answer(200, "text/event-stream", text.encode(), result[:RESULT_CHARACTERS] or None)

    def log_message(self, format, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
    daemon_threads = True

    def finish_request(self, request, client_address):
        """In the connection's own thread, so that a client that says nothing holds up no other."""
        request.settimeout(CLIENT_SECONDS)
        try:
            with self.tls.wrap_socket(request, server_side=True) as wrapped:
                super().finish_request(wrapped, client_address)
        except OSError:
            pass  # it went away


def main():
    certificate, key, record = sys.argv[1:]
    server = Server(("::", 443), Provider)
    server.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.tls.load_cert_chain(certificate, key)
    server.record = open(record, "a", encoding="utf-8")
    server.serve_forever()


main()
