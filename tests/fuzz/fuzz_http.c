/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of HTTP: what goes on to the server is the same request, in a form that does not change
 * any more; a body ends at the same byte however it comes. */
#include "fuzz/fuzz.h"
#include "net/http.h"

static void check_body(const struct http_request *request, const char *bytes, size_t size)
{
    struct http_body whole, pieces;
    long taken, sum = 0;

    http_body_begin(&whole, request);
    http_body_begin(&pieces, request);
    taken = http_body_take(&whole, bytes, size);
    for (size_t i = 0; i < size && !pieces.is_done && sum >= 0; i++) {
        long one = http_body_take(&pieces, bytes + i, 1);

        sum = one < 0 ? one : sum + one;
    }
    fuzz_require(sum == taken && whole.is_done == pieces.is_done);
    fuzz_require(taken < 0 || whole.is_done || (size_t)taken == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct strbuf first = {0}, second = {0};
    struct http_request request, again;
    const char *wrong = NULL;
    int result = http_read_request(bytes, size, 80, &request, &wrong);

    (void)http_read_status(bytes, size);
    fuzz_require(result >= 0 || (result <= -400 && result > -600 && wrong));
    if (result <= 0)
        return 0;
    fuzz_require(request.head_bytes <= size && request.to.port && request.to.name[0]);
    check_body(&request, bytes + request.head_bytes, size - request.head_bytes);
    if (request.is_connect)
        return 0;
    http_write_request(bytes, &request, &first);
    fuzz_require(first.text);
    fuzz_require(http_read_request(first.text, first.length, 80, &again, &wrong) == 1);
    fuzz_require(again.head_bytes == first.length && again.body == request.body);
    fuzz_require(again.body_bytes == request.body_bytes && again.upgrades == request.upgrades);
    fuzz_require(strcmp(again.to.name, request.to.name) == 0 && again.to.port == request.to.port);
    fuzz_require(http_may_follow(&again) == http_may_follow(&request));
    fuzz_require(!http_may_follow(&request) || (request.keeps && request.body == HTTP_NO_BODY));
    http_write_request(first.text, &again, &second);
    fuzz_require(second.text && strcmp(first.text, second.text) == 0);
    strbuf_done(&first);
    strbuf_done(&second);
    return 0;
}
