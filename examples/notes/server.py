"""A tool server in one file: notes in a text file, offered over MCP on standard input and output.

Usage: python3 server.py [FILE]
"""

import json
import sys
from pathlib import Path

NOTES = Path(sys.argv[1] if len(sys.argv) > 1 else "my-notes.txt")
TOOLS = [
    {
        "name": "add_note",
        "description": "Add a note to the list of notes.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string", "description": "The text of the note"}},
            "required": ["text"],
        },
    },
    {
        "name": "list_notes",
        "description": "List all notes.",
        "inputSchema": {"type": "object", "properties": {}},
    },
]


def call(name, arguments):
    notes = NOTES.read_text().splitlines() if NOTES.exists() else []
    if name == "add_note":
        NOTES.write_text("\n".join([*notes, arguments["text"]]) + "\n")
        return f"Added note {len(notes) + 1}."
    return "\n".join(notes) or "There are no notes."


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "notes", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": call(params["name"], params.get("arguments", {}))}]}
    return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue  # A notification gets no reply.
    result = answer(message["method"], message.get("params", {}))
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if result is None:
        reply["error"] = {"code": -32601, "message": f"unknown method {message['method']}"}
    else:
        reply["result"] = result
    print(json.dumps(reply), flush=True)
