/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of HTTP: what goes on to the client is the same answer, in a form that does not change
 * any more; a head ends at the same byte however it comes. */
#include "fuzz/fuzz.h"
#include "net/answer.h"

#include <errno.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct strbuf first = {0}, second = {0};
    struct answer answer, again;
    int result = answer_read(bytes, size, false, &answer);

    fuzz_require(result == 0 || result == 1 || result == -EBADMSG);
    for (size_t part = 0; part < size && part < 300; part++) {
        int before = answer_read(bytes, part, false, &again);

        fuzz_require(before == 0 || before == result);
        fuzz_require(before != 1 || again.head_bytes == answer.head_bytes);
    }
    if (result <= 0)
        return 0;
    fuzz_require(answer.head_bytes <= size && answer.status >= 100);
    fuzz_require(!answer.is_to_end || answer.body == HTTP_NO_BODY);
    fuzz_require(!answer.keeps || !(answer.is_to_end || answer.is_old));
    answer_write(bytes, &answer, answer.keeps, &first);
    fuzz_require(answer_read(first.text, first.length, false, &again) == 1);
    fuzz_require(again.head_bytes == first.length && again.status == answer.status &&
                 again.body == answer.body && again.is_to_end == answer.is_to_end &&
                 again.keeps == answer.keeps);
    fuzz_require(answer.body != HTTP_LENGTH || again.body_bytes == answer.body_bytes);
    answer_write(first.text, &again, again.keeps, &second);
    fuzz_require(strcmp(first.text, second.text) == 0);
    strbuf_done(&first);
    strbuf_done(&second);
    return 0;
}
