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
    struct strbuf out = {0};
    const struct node *root = report && length < sizeof(text)
                                  ? node_from_yaml(&arena, "standard input", text, length, report)
                                  : NULL;

    if (root)
        node_pack(root, &out);
    if (!root || out.failed || fwrite(out.text, 1, out.length, stdout) != out.length ||
        fflush(stdout) != 0) {
        (void)fputs("pack: this is no YAML, or cannot be written\n", stderr);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
