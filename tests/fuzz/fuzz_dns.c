/* SPDX-License-Identifier: Apache-2.0 */
/* Questions for names: every one that gets an answer gets one that fits and repeats it. */
#include "fuzz/fuzz.h"
#include "net/dns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t out[DNS_ANSWER_MAX], addresses[16 * 64];
    struct dns_query query;
    struct host address;
    struct dns_answer answer = {.reason = DNS_BLOCKED, .text = "why", .addresses = addresses};
    int result = dns_read_query(data, size, &query);
    size_t limit, written;

    if (result < 0)
        return 0;
    fuzz_require(memchr(query.name, '\0', sizeof(query.name)));
    fuzz_require(query.question_bytes <= sizeof(query.question));
    for (const char *at = query.name; *at; at++)
        fuzz_require(strchr("abcdefghijklmnopqrstuvwxyz0123456789-_.", *at));
    limit = dns_udp_limit(&query);
    answer.code = (enum dns_code)result;
    answer.address_count = result ? 0 : size % 64;
    written = dns_write_answer(&query, &answer, limit, out);
    fuzz_require(written >= 12 && written <= limit && memcmp(out, data, 2) == 0 && out[2] & 0x80);
    fuzz_require(memcmp(out + 12, query.question, query.question_bytes) == 0);
    (void)dns_write_answer(&query, &answer, DNS_ANSWER_MAX, out);
    if (query.type == DNS_PTR && dns_reverse(query.name, &address))
        fuzz_require(address.kind == HOST_ADDRESS);
    answer.name = query.name;
    written = dns_write_answer(&query, &answer, limit, out);
    fuzz_require(written >= 12 && written <= limit);
    return 0;
}
