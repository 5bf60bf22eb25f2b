/* SPDX-License-Identifier: Apache-2.0 */
/* What a resolver outside answers, behind the id of the question. Each question is answered with
 * the input, and then that there is no such name: either way it ends once, and within bounds. */
#include "fuzz/fuzz.h"
#include "net/upstream.h"

#include <netinet/in.h>
#include <sys/socket.h>

enum { HEAD_BYTES = 12, QUESTION_BYTES = 8 + 4, PACKET_BYTES = 4096 };

static struct hub hub;
static struct hub_source source;
static struct upstream *upstream;
static const uint8_t *input;
static size_t input_bytes;
static unsigned ends;

static void on_question(void *context, uint32_t events)
{
    uint8_t question[PACKET_BYTES], answer[PACKET_BYTES];
    static const uint8_t no_name[10] = {0x81, 0x83, 0, 1};
    struct sockaddr_in peer;
    socklen_t size = sizeof(peer);
    ssize_t got =
        recvfrom(source.fd, question, sizeof(question), 0, (struct sockaddr *)&peer, &size);

    (void)context, (void)events;
    fuzz_require(got >= HEAD_BYTES + QUESTION_BYTES);
    memcpy(answer, question, 2);
    memcpy(answer + 2, input, input_bytes);
    (void)sendto(source.fd, answer, 2 + input_bytes, 0, (const struct sockaddr *)&peer, size);
    memcpy(question + 2, no_name, sizeof(no_name));
    (void)sendto(source.fd, question, HEAD_BYTES + QUESTION_BYTES, 0,
                 (const struct sockaddr *)&peer, size);
}

static void on_end(void *context, const struct upstream_answer *answer)
{
    volatile uint8_t sum = 0;

    (void)context;
    fuzz_require((answer->end == UPSTREAM_FOUND) == (answer->count > 0));
    fuzz_require((answer->end == UPSTREAM_FOUND) == (answer->failure == NULL));
    fuzz_require(answer->count <= UPSTREAM_ADDRESSES);
    for (size_t i = 0; i < answer->count; i++)
        sum = (uint8_t)(sum + answer->addresses[i][15]);
    ends++;
    hub_end(&hub);
}

static void start(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(at);

    source = (struct hub_source){.events = EPOLLIN, .ready = on_question};
    source.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    fuzz_require(bind(source.fd, (const struct sockaddr *)&at, sizeof(at)) == 0);
    fuzz_require(getsockname(source.fd, (struct sockaddr *)&at, &size) == 0);
    fuzz_require(hub_init(&hub, NULL) == 0 && hub_add(&hub, &source, NULL) == 0);
    upstream = upstream_new(&hub, ntohs(at.sin_port), NULL);
    fuzz_require(upstream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!upstream)
        start();
    input = data;
    input_bytes = size < PACKET_BYTES - 2 ? size : PACKET_BYTES - 2;
    ends = 0;
    hub.is_done = false;
    fuzz_require(upstream_ask(upstream, "a.test", on_end, NULL, NULL) == 0);
    fuzz_require(hub_run(&hub, NULL) == 0);
    fuzz_require(ends == 1);
    return 0;
}
