/* SPDX-License-Identifier: Apache-2.0 */
/* Claude Code's settings.json, loaded, asked and exported. */
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_policy(FORMAT_CLAUDE, data, size);
    return 0;
}
