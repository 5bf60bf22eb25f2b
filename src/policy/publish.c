/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/publish.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

static const char wrong_form[] = "not [ADDRESS:]PORT[:PORT]";

/* A number of at most size bytes. */
static bool parse_port(const char *text, size_t size, uint16_t *ret_port)
{
    char digits[8];
    uint64_t port;

    if (size >= sizeof(digits))
        return false;
    (void)snprintf(digits, sizeof(digits), "%.*s", (int)size, text);
    if (!text_parse_count(digits, 65535, &port) || port == 0)
        return false;
    *ret_port = (uint16_t)port;
    return true;
}

/* What stands before the ports; returns where they begin, or NULL. */
static const char *parse_address(const char *text, struct host *ret_host)
{
    char address[LIMIT_HOST_BYTES] = "127.0.0.1";
    const char *begin = text;
    size_t size = strcspn(text, ":");
    bool is_v6 = *text == '[';

    if (is_v6) {
        begin++;
        size = strcspn(begin, "]");
        text = begin + size + (begin[size] == ']');
    }
    if (is_v6 || memchr(begin, '.', size)) {
        if (size >= sizeof(address) || (is_v6 && *text != ':') || (!is_v6 && begin[size] != ':'))
            return NULL;
        (void)snprintf(address, sizeof(address), "%.*s", (int)size, begin);
        text = is_v6 ? text + 1 : begin + size + 1;
    }
    return host_parse_address(address, ret_host) ? text : NULL;
}

const char *publish_parse(const char *text, struct published *ret_published)
{
    struct host *at = &ret_published->at;
    const char *ports = parse_address(text, at);
    size_t size;

    if (!ports)
        return wrong_form;
    size = strcspn(ports, ":");
    if (!parse_port(ports, size, &at->port))
        return wrong_form;
    ret_published->inside = at->port;
    if (ports[size] == ':' &&
        !parse_port(ports + size + 1, strlen(ports + size + 1), &ret_published->inside))
        return wrong_form;
    return NULL;
}
