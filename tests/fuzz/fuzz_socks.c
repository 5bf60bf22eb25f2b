/* SPDX-License-Identifier: Apache-2.0 */
/* SOCKS: what a beginning settles, the rest does not change; a name is a host's. */
#include "fuzz/fuzz.h"
#include "net/socks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct socks_request request, part;
    size_t used, part_used;
    bool is_open;
    enum socks_state state = socks_read_request(data, size, &used, &request);

    fuzz_require(used <= size && (state == SOCKS_WHOLE) == (used > 0));
    fuzz_require(state != SOCKS_MORE || size < SOCKS_REQUEST_MAX);
    if (state == SOCKS_WHOLE && !request.wrong)
        fuzz_require(request.to.port && request.to.name[0]);
    for (size_t at = 0; at < size && at < 300; at++) {
        enum socks_state before = socks_read_request(data, at, &part_used, &part);

        fuzz_require(before == SOCKS_MORE || before == state);
        fuzz_require(before != SOCKS_WHOLE || part_used == used);
    }
    (void)socks_read_greeting(data, size, &used, &is_open);
    fuzz_require(used <= size);
    return 0;
}
