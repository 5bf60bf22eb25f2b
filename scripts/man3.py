#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes libbawn(3) from the headers, which are the reference: man3.py DATE VERSION OUTPUT HEADER...

A header is read as blocks with empty lines between them. A block is a comment, declarations, or the
one and then the other; what the preprocessor alone reads is left out."""
import re
import sys

SKIPPED = re.compile(r"#ifdef __cplusplus\n.*?\n#endif\n|^#(?:ifndef|define|include|endif)[^\n]*\n", re.S | re.M)

OPENING = """libbawn loads the policies that bawn(1) reads, answers questions about them, makes plans for
this host, and runs commands inside their boundaries. Programs include <bawn/bawn.h>.

Functions that return int return 0, a count, a descriptor or a job, else a negative errno value, and then
fill the struct bawn_error that is their last parameter; NULL is accepted there. The library never prints,
exits or aborts. Objects have a function that ends in _free or _close; texts are given back with free(3).
A loaded policy, a host and a plan never change: any number of threads may use one. A session and a
struct bawn_load are for one thread at a time.

Commands are started by the bawn program, which is looked for beside the calling program and where it was
installed, never in PATH."""

EXAMPLE = r"""#include <bawn/bawn.h>
#include <stdio.h>

int main(void)
{
    const char *const argv[] = {"make", "test", NULL};
    struct bawn_error err = {0};
    int status;

    if (bawn_run(NULL, argv, &status, &err) < 0) {
        fprintf(stderr, "%s\n%s\n", err.message, err.hint);
        return 125;
    }
    return status;
}"""


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    text = text.replace("~", "\\(ti").replace("^", "\\(ha")
    return re.sub(r"^\.", r"\\&.", text, flags=re.M)


def literal(text):
    return ".nf\n" + "\n".join(escape(line) for line in text.split("\n")) + "\n.fi\n"


def prose(text):
    """Paragraphs; what is indented stays as it is."""
    out = []
    for part in re.split(r"\n\s*\n", text.strip("\n")):
        lines = part.split("\n")
        if all(line.startswith("    ") for line in lines):
            out.append(".PP\n.RS 4\n" + literal("\n".join(line[4:] for line in lines)) + ".RE\n")
        else:
            out.append(".PP\n" + escape("\n".join(line.strip() for line in lines)) + "\n")
    return "".join(out)


def comment_text(comment):
    body = re.sub(r"^/\*+\n?|\s*\*/$", "", comment)
    return "\n".join(re.sub(r"^ \* ?|^ \*$", "", line) for line in body.split("\n")).strip("\n ")


def blocks(source):
    """Pairs of a comment (or "") and declarations (or "")."""
    for block in re.split(r"\n\s*\n", source.strip()):
        match = re.match(r"(/\*.*?\*/)(?:\n|$)(.*)", block.strip("\n"), re.S)
        yield (comment_text(match[1]), match[2].strip()) if match else ("", block.strip())


def glue(source):
    """An empty line inside a comment or braces ends no block."""
    return re.sub(r"/\*.*?\*/|\{[^}]*\}", lambda m: re.sub(r"\n( \*)?[ ]*\n", "\n *\n", m[0])
                  if m[0].startswith("/*") else m[0].replace("\n\n", "\n"), source, flags=re.S)


def main():
    date, version, output, *headers = sys.argv[1:]
    with open(output, "w", encoding="utf-8") as out:
        out.write(f'.TH LIBBAWN 3 "{date}" "bawn {version}" "Library Functions"\n')
        out.write(".SH NAME\nlibbawn \\- run commands inside the boundaries of a policy\n")
        out.write(".SH SYNOPSIS\n" + literal("#include <bawn/bawn.h>"))
        out.write(".PP\n" + escape("cc program.c $(pkg-config --cflags --libs bawn)") + "\n")
        out.write(".SH DESCRIPTION\n" + prose(OPENING).removeprefix(".PP\n"))
        for header in headers:
            with open(header, encoding="utf-8") as file:
                source = file.read()
            lines = source.split("\n", 2)
            name = header.rsplit("/", 1)[1]
            out.write(f".SS <bawn/{name}>\n" + escape(comment_text(lines[1])) + "\n")
            for comment, declarations in blocks(glue(SKIPPED.sub("\n", lines[2]))):
                declarations = re.sub(r"BAWN_API ([^;]*;)",
                                      lambda m: m[1].replace("\n" + " " * len("BAWN_API "), "\n"),
                                      declarations)
                if declarations:
                    out.write(".PP\n" + literal(declarations))
                if comment:
                    text = prose(comment)
                    out.write(".RS 4\n" + text.removeprefix(".PP\n") + ".RE\n" if declarations else text)
        out.write(".SH EXAMPLES\n" + escape("Runs one command with the policy of the working directory.")
                  + "\n.PP\n.RS 4\n" + literal(EXAMPLE) + ".RE\n")
        out.write(".SH SEE ALSO\n.BR bawn (1),\n.BR bawn-policy (5)\n")


main()
