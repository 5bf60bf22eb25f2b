/* SPDX-License-Identifier: Apache-2.0 */
/* The first message of a TLS client: what a beginning settles, the rest does not change. */
#include "fuzz/fuzz.h"
#include "net/hello.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hello whole, part;
    enum hello_state state = hello_read(data, size, &whole);
    size_t step = size / 64 + 1;

    fuzz_require(state == HELLO_WHOLE || whole.name[0] == '\0');
    fuzz_require(memchr(whole.name, '\0', sizeof(whole.name)));
    for (size_t at = 0; at < size; at += step) {
        enum hello_state before = hello_read(data, at, &part);

        fuzz_require(before == HELLO_MORE || before == state);
        if (before == HELLO_WHOLE)
            fuzz_require(strcmp(part.name, whole.name) == 0 && part.hides_name == whole.hides_name);
    }
    return 0;
}
