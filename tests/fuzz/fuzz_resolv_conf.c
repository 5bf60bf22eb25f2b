/* SPDX-License-Identifier: Apache-2.0 */
/* A resolv.conf: whatever the text, one to three servers that are addresses come out. */
#include "fuzz/fuzz.h"
#include "net/resolv_conf.h"

#include <arpa/inet.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct resolv_conf conf;

    fuzz_require(text);
    memcpy(text, data, size);
    text[size] = '\0';
    resolv_conf_read(text, &conf);
    free(text);
    fuzz_require(conf.server_count >= 1 && conf.server_count <= RESOLV_SERVERS);
    fuzz_require(conf.timeout_seconds >= 1 && conf.timeout_seconds <= 30);
    fuzz_require(conf.attempts >= 1 && conf.attempts <= 5);
    for (size_t i = 0; i < conf.server_count; i++) {
        const struct resolv_server *server = &conf.servers[i];
        unsigned char bytes[16];

        fuzz_require(inet_pton(server->is_v6 ? AF_INET6 : AF_INET, server->address, bytes) == 1);
        fuzz_require(memchr(server->scope, '\0', sizeof(server->scope)));
        fuzz_require(!strpbrk(server->scope, ",[]%: "));
        fuzz_require(!server->scope[0] || strncmp(server->address, "fe", 2) == 0);
    }
    return 0;
}
