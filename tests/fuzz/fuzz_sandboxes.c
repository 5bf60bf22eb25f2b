/* SPDX-License-Identifier: Apache-2.0 */
/* The older sandboxes form, loaded, asked and exported. */
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_policy(FORMAT_SANDBOXES, data, size);
    return 0;
}
