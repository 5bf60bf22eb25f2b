/* SPDX-License-Identifier: Apache-2.0 */
/* Events: whatever comes is none, or says the same when it is told again. */
#include "fuzz/fuzz.h"
#include "wire/event.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char bytes[EVENT_BYTES], again[EVENT_BYTES];
    struct event event;

    if (size > sizeof(bytes))
        return 0;
    memcpy(bytes, data, size);
    if (event_unpack(bytes, size, &event) < 0)
        return 0;
    for (size_t i = 0; i < EVENT_TEXTS; i++)
        fuzz_require(event.texts[i] >= bytes && event.texts[i] < bytes + size);
    fuzz_require(event_name(event.what) && event_who_name(event.who));
    (void)event_verdict_name(event.verdict);
    fuzz_require(event_pack(&event, again) == size && memcmp(again, bytes, size) == 0);
    return 0;
}
