#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a C table of files: embed.py ROOT OUTPUT PACK FILE..., each FILE below ROOT. Those directly in
ROOT are the built-in lists: the program PACK packs them."""
import os
import subprocess
import sys

root, output, pack, *files = sys.argv[1:]
with open(output, "w", encoding="utf-8") as out:
    out.write('#include "api/api.h"\n\n')
    for number, name in enumerate(files):
        with open(name, "rb") as data:
            text = data.read()
        if os.path.dirname(os.path.relpath(name, root)) == "":
            text = subprocess.run([pack], input=text, stdout=subprocess.PIPE, check=True).stdout
        out.write(f"static const char file_{number}[] = {{")
        out.write(", ".join(f"'\\x{byte:02x}'" for byte in text + b"\0"))
        out.write("};\n")
    out.write("\nconst struct builtin_file builtin_files[] = {\n")
    for number, name in enumerate(files):
        path = os.path.relpath(name, root)
        out.write(f'    {{"{path}", file_{number}, sizeof(file_{number}) - 1}},\n')
    out.write("    {0},\n};\n")
