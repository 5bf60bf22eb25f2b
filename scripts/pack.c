/* SPDX-License-Identifier: Apache-2.0 */
/* Packs a YAML document at build time: pack <FILE.yaml >FILE.packed */
#include "config/packed.h"

#include <bawn/error.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_BYTES = 1 << 20 };

int main(void)
{
    static char text[TEXT_BYTES];
    size_t length = fread(text, 1, sizeof(text), stdin);
    struct bawn_report *report = report_new();
    struct arena arena = {0};
    autostrbuf struct strbuf out = {0};
    const struct node *root = report && length < sizeof(text)
                                  ? node_from_yaml(&arena, "standard input", text, length, report)
                                  : NULL;
    bool is_packed;

    if (root)
        node_pack(root, &out);
    is_packed = root && !out.failed && fwrite(out.text, 1, out.length, stdout) == out.length &&
                fflush(stdout) == 0;
    if (!is_packed)
        (void)fputs("pack: this is no YAML, or cannot be written\n", stderr);
    arena_done(&arena);
    bawn_report_free(report);
    return is_packed ? EXIT_SUCCESS : EXIT_FAILURE;
}
