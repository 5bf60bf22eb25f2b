/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a session, as a file that anybody of the same user may have written. */
#include "fuzz/fuzz.h"
#include "session/record.h"

static bool ends(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct record record;
    struct strbuf lines = {0};
    char *text = malloc(size + 1);

    fuzz_require(text);
    memcpy(text, data, size);
    text[size] = '\0';
    record.not_enforced = &lines;
    if (record_read(text, &record)) {
        fuzz_require(record.pid >= 0 && ends(record.sid, sizeof(record.sid)));
        fuzz_require(ends(record.workspace, sizeof(record.workspace)));
        fuzz_require(ends(record.enforcement, sizeof(record.enforcement)));
        fuzz_require(ends(record.command, sizeof(record.command)));
        for (size_t i = 0; i < CGROUP_PATHS; i++)
            fuzz_require(ends(record.cgroups[i], sizeof(record.cgroups[i])));
        /* What is shown on a terminal has no control characters. */
        for (const char *at = record.command; *at; at++)
            fuzz_require((unsigned char)*at >= 32 && *at != 127);
        for (const char *at = lines.text; at && *at; at++)
            fuzz_require(((unsigned char)*at >= 32 && *at != 127) || *at == '\n');
    }
    strbuf_done(&lines);
    free(text);
    return 0;
}
