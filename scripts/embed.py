#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a C table of files: embed.py ROOT OUTPUT FILE..., each FILE below ROOT."""
import os
import sys

root, output, *files = sys.argv[1:]
with open(output, "w", encoding="utf-8") as out:
    out.write('#include "api/api.h"\n\n')
    for number, name in enumerate(files):
        with open(name, "rb") as data:
            text = data.read()
        out.write(f"static const char file_{number}[] = {{")
        out.write(", ".join(str(byte) for byte in text + b"\0"))
        out.write("};\n")
    out.write("\nconst struct builtin_file builtin_files[] = {\n")
    for number, name in enumerate(files):
        path = os.path.relpath(name, root)
        out.write(f'    {{"{path}", file_{number}, sizeof(file_{number}) - 1}},\n')
    out.write("    {0},\n};\n")
