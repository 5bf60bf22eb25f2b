/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/netrule.h"

#include "base/special.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_BYTES = 63, V4_BITS = 96 };

void host_put_v4(unsigned char out[static 16], const void *v4)
{
    memset(out, 0, 10);
    out[10] = out[11] = 0xff;
    memcpy(out + 12, v4, 4);
}

static bool address_is_v4(const unsigned char address[16])
{
    static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

    return memcmp(address, mapped, sizeof(mapped)) == 0;
}

bool host_is_v4(const struct host *address)
{
    return address_is_v4(address->address);
}

bool host_parse_address(const char *text, struct host *ret_host)
{
    unsigned char v4[4];

    memset(ret_host, 0, sizeof(*ret_host));
    if (inet_pton(AF_INET, text, v4) == 1)
        host_put_v4(ret_host->address, v4);
    else if (inet_pton(AF_INET6, text, ret_host->address) != 1)
        return false;
    ret_host->kind = HOST_ADDRESS;
    ret_host->prefix_bits = 128;
    if (address_is_v4(ret_host->address))
        (void)inet_ntop(AF_INET, ret_host->address + 12, ret_host->name, sizeof(ret_host->name));
    else
        (void)inet_ntop(AF_INET6, ret_host->address, ret_host->name, sizeof(ret_host->name));
    return true;
}

socklen_t host_address(const unsigned char address[static 16], uint16_t port,
                       struct sockaddr_storage *ret_address)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    bool is_v4 = address_is_v4(address);

    memcpy(&v4.sin_addr, address + 12, sizeof(v4.sin_addr));
    memcpy(&v6.sin6_addr, address, sizeof(v6.sin6_addr));
    *ret_address = (struct sockaddr_storage){0};
    if (is_v4)
        memcpy(ret_address, &v4, sizeof(v4));
    else
        memcpy(ret_address, &v6, sizeof(v6));
    return is_v4 ? sizeof(v4) : sizeof(v6);
}

void host_from_address(const struct sockaddr_storage *address, struct host *ret_host)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    char text[INET6_ADDRSTRLEN] = "";
    uint16_t port;

    if (address->ss_family == AF_INET) {
        memcpy(&v4, address, sizeof(v4));
        (void)inet_ntop(AF_INET, &v4.sin_addr, text, sizeof(text));
        port = ntohs(v4.sin_port);
    } else {
        memcpy(&v6, address, sizeof(v6));
        (void)inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof(text));
        port = ntohs(v6.sin6_port);
    }
    (void)host_parse_address(text, ret_host);
    ret_host->port = port;
}

static bool label_is_number(const char *label, size_t length)
{
    if (length > 1 && label[0] == '0' && (label[1] == 'x' || label[1] == 'X'))
        return true;
    for (size_t i = 0; i < length; i++)
        if (!isdigit((unsigned char)label[i]))
            return false;
    return true;
}

/* SECURITY: no form of a name may mean an address to one program and a name to another, so
 * 127.1, 0x7f.0.0.1, 2130706433 and the like are refused. */
static const char *parse_name(const char *text, size_t length, char out[static LIMIT_HOST_BYTES])
{
    size_t label = 0;

    if (length > 1 && text[length - 1] == '.')
        length--;
    if (length == 0)
        return "there is no host in it";
    if (length >= LIMIT_HOST_BYTES)
        return "a host name has at most 253 bytes";
    for (size_t i = 0; i <= length; i++) {
        unsigned char byte = i < length ? (unsigned char)text[i] : '.';

        if (byte == '.') {
            if (i == label)
                return "a host name has no empty label";
            if (i - label > LABEL_BYTES)
                return "a label of a host name has at most 63 bytes";
            if (text[label] == '-' || text[i - 1] == '-')
                return "a label of a host name does not start or end with -";
            if (i == length && label_is_number(text + label, i - label))
                return "not an address in its usual form, and a name does not end in a number";
            label = i + 1;
        } else if (byte == '*') {
            return "a * can only stand for whole labels in front: *.example or **.example";
        } else if (byte >= 0x80) {
            return "write an international name in its xn-- form";
        } else if (!isalnum(byte) && byte != '-' && byte != '_') {
            return "a host name has letters, digits, - and . only (no scheme, no path)";
        }
        if (i < length)
            out[i] = (char)tolower(byte);
    }
    out[length] = '\0';
    return NULL;
}

static const char *parse_port(const char *text, uint16_t *ret_port)
{
    uint64_t port;

    if (!text_parse_count(text, 65535, &port) || port == 0)
        return "a port is a number from 1 to 65535";
    *ret_port = (uint16_t)port;
    return NULL;
}

/* Clears the bits behind the prefix, so that equal ranges have equal keys. */
static void address_mask(unsigned char address[16], unsigned bits)
{
    for (unsigned i = 0; i < 16; i++) {
        unsigned keep = bits >= (i + 1) * 8 ? 8 : bits <= i * 8 ? 0 : bits - i * 8;

        address[i] &= (unsigned char)(0xff00U >> keep);
    }
}

static const char *parse_prefix(const char *text, bool in_v4_form, struct host *host)
{
    bool is_v4 = address_is_v4(host->address);
    uint64_t bits;

    if (is_v4 && !in_v4_form)
        return "write an IPv4 range in its own form: 10.0.0.0/8";
    if (!text_parse_count(text, is_v4 ? 32 : 128, &bits))
        return is_v4 ? "an IPv4 range ends in /0 to /32" : "an IPv6 range ends in /0 to /128";
    host->prefix_bits = (unsigned)bits + (is_v4 ? V4_BITS : 0);
    address_mask(host->address, host->prefix_bits);
    return NULL;
}

/* "ADDRESS", "ADDRESS/BITS", "[V6]"; NULL in *ret_is_address when it is none of these. */
static const char *parse_address_rule(const char *text, size_t length, struct host *ret_host,
                                      bool *ret_is_address)
{
    char buffer[INET6_ADDRSTRLEN + 8];
    struct host address;
    char *slash;

    *ret_is_address = false;
    if (length == 0 || length >= sizeof(buffer))
        return NULL;
    memcpy(buffer, text, length);
    buffer[length] = '\0';
    slash = strchr(buffer, '/');
    if (slash)
        *slash = '\0';
    if (!host_parse_address(buffer, &address))
        return NULL;
    *ret_is_address = true;
    address.port = ret_host->port;
    *ret_host = address;
    return slash ? parse_prefix(slash + 1, !strchr(buffer, ':'), ret_host) : NULL;
}

/* Splits off ":PORT". A bare IPv6 address has colons of its own and takes no port. */
static const char *split_port(const char *text, const char **ret_start, size_t *ret_length,
                              uint16_t *ret_port)
{
    const char *end;

    if (strstr(text, "://"))
        return "a host has no scheme and no path";
    *ret_start = text;
    *ret_length = strlen(text);
    *ret_port = 0;
    if (*text == '[') {
        end = strchr(text, ']');
        if (!end)
            return "a [ without its ]";
        *ret_start = text + 1;
        *ret_length = (size_t)(end - text - 1);
        if (end[1] == '\0')
            return NULL;
        return end[1] == ':' ? parse_port(end + 2, ret_port) : "behind ] there can only be a port";
    }
    end = strchr(text, ':');
    if (!end || strchr(end + 1, ':'))
        return NULL;
    *ret_length = (size_t)(end - text);
    return parse_port(end + 1, ret_port);
}

const char *host_parse_rule(const char *text, struct host *ret_host)
{
    const char *wrong;
    const char *start;
    size_t length;
    bool is_address;

    memset(ret_host, 0, sizeof(*ret_host));
    wrong = split_port(text, &start, &length, &ret_host->port);
    if (wrong)
        return wrong;
    wrong = parse_address_rule(start, length, ret_host, &is_address);
    if (wrong || is_address)
        return wrong;
    if (*text == '[')
        return "between [ and ] stands an IPv6 address";
    ret_host->kind = HOST_NAME;
    if (length > 3 && strncmp(start, "**.", 3) == 0) {
        ret_host->kind = HOST_DOMAIN;
        start += 3;
        length -= 3;
    } else if (length > 2 && strncmp(start, "*.", 2) == 0) {
        ret_host->kind = HOST_SUBDOMAINS;
        start += 2;
        length -= 2;
    }
    return parse_name(start, length, ret_host->name);
}

const char *host_parse_target(const char *text, struct host *ret_host)
{
    const char *wrong = host_parse_rule(text, ret_host);

    if (wrong)
        return wrong;
    if (ret_host->kind == HOST_SUBDOMAINS || ret_host->kind == HOST_DOMAIN)
        return "a target is one host, not a pattern";
    if (ret_host->kind == HOST_ADDRESS && strchr(text, '/'))
        return "a target is one address, not a range";
    if (ret_host->port == 0)
        return "a target needs a port: HOST:PORT, or [IPV6]:PORT";
    return NULL;
}

const char *host_special(const struct host *host, unsigned *ret_prefix_bits)
{
    static const struct {
        unsigned char address[16];
        unsigned bits;
        const char *what;
    } table[] = {
#define RANGE(a, b, c, d, bits, what)                                                              \
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d}, V4_BITS + (bits), what},
        SPECIAL_V4(RANGE)
#undef RANGE
#define RANGE(a, b, c, d, e, f, g, h, bits, what)                                                  \
    {SPECIAL_V6_BYTES(a, b, c, d, e, f, g, h), bits, what},
            SPECIAL_V6(RANGE)
#undef RANGE
    };
    bool is_v4 = host_is_v4(host);

    *ret_prefix_bits = 0;
    if (host->kind == HOST_NAME) {
        size_t length = strlen(host->name);

        if (strcmp(host->name, "localhost") == 0 ||
            (length > 10 && strcmp(host->name + length - 10, ".localhost") == 0))
            return "loopback";
        return NULL;
    }
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        unsigned char masked[16];

        if (address_is_v4(table[i].address) != is_v4)
            continue;
        memcpy(masked, host->address, sizeof(masked));
        address_mask(masked, table[i].bits);
        if (memcmp(masked, table[i].address, sizeof(masked)) == 0) {
            *ret_prefix_bits = table[i].bits;
            return table[i].what;
        }
    }
    return NULL;
}

const char *net_verdict_word(const struct net_rule *rule)
{
    static const char *const words[] = {
        [NET_ALLOW] = "allow", [NET_ASK] = "ask", [NET_DENY] = "deny"};

    return words[rule->verdict];
}

void net_rule_words(const struct net_rule *rule, struct strbuf *out)
{
    strbuf_add(out, rule->spelled);
    if (rule->opaque)
        strbuf_add(out, " opaque");
    if (rule->ech)
        strbuf_add(out, " ech=allow");
    if (rule->by)
        strbuf_addf(out, " by=%s", rule->by);
}

/* Keys of the index: names by the kind of rule, addresses by the length of the prefix. */
static uint64_t key_scope(const struct host *host)
{
    return host->kind == HOST_ADDRESS ? 16 + host->prefix_bits : (uint64_t)host->kind;
}

void netindex_done(struct netindex *index)
{
    map_done(&index->by_key);
    memset(index, 0, sizeof(*index));
}

bool netindex_add(struct netindex *index, struct net_rule *rule)
{
    const struct host *host = &rule->host;
    bool is_address = host->kind == HOST_ADDRESS;
    const char *key = is_address ? (const char *)host->address : host->name;
    size_t length = is_address ? sizeof(host->address) : strlen(host->name);
    struct net_rule *first = map_get(&index->by_key, key_scope(host), key, length);

    if (is_address)
        index->has_prefix[host->prefix_bits] = true;
    if (!first)
        return map_put(&index->by_key, key_scope(host), key, length, rule);
    rule->next = first->next;
    first->next = rule;
    return true;
}

struct ask {
    const struct netindex *index;
    uint16_t port;
    bool any_port;
    void (*found)(void *context, const struct net_rule *rule, unsigned specificity);
    void *context;
};

static void ask_key(const struct ask *ask, uint64_t scope, const char *key, size_t length,
                    unsigned specificity)
{
    const struct net_rule *rule = map_get(&ask->index->by_key, scope, key, length);

    for (; rule; rule = rule->next)
        if (ask->any_port || rule->host.port == 0 || rule->host.port == ask->port)
            ask->found(ask->context, rule, specificity * 2 + (rule->host.port != 0));
}

static void ask_name(const struct ask *ask, const char *name)
{
    size_t length = strlen(name);
    unsigned exact = (unsigned)length * 4;

    ask_key(ask, HOST_NAME, name, length, exact + 3);
    ask_key(ask, HOST_DOMAIN, name, length, exact + 2);
    while ((name = strchr(name, '.'))) {
        unsigned rest;

        name++;
        length = strlen(name);
        rest = (unsigned)length * 4;
        ask_key(ask, HOST_SUBDOMAINS, name, length, rest + 1);
        ask_key(ask, HOST_DOMAIN, name, length, rest);
    }
}

static void ask_all(const struct ask *ask, const struct host *target)
{
    const struct netindex *index = ask->index;
    unsigned char masked[16];
    unsigned lowest;

    if (target->kind == HOST_NAME) {
        ask_name(ask, target->name);
        return;
    }
    memcpy(masked, target->address, sizeof(masked));
    /* An IPv4 address is in no IPv6 range, however wide. */
    lowest = address_is_v4(target->address) ? V4_BITS : 0;
    for (unsigned bits = 129; bits-- > lowest;) {
        if (!index->has_prefix[bits])
            continue;
        address_mask(masked, bits);
        ask_key(ask, 16 + bits, (const char *)masked, sizeof(masked), bits);
    }
}

void netindex_ask(const struct netindex *index, const struct host *target,
                  void (*found)(void *context, const struct net_rule *rule, unsigned specificity),
                  void *context)
{
    struct ask ask = {.index = index, .port = target->port, .found = found, .context = context};

    ask_all(&ask, target);
}

void netindex_ask_ports(const struct netindex *index, const struct host *target,
                        void (*found)(void *context, const struct net_rule *rule,
                                      unsigned specificity),
                        void *context)
{
    struct ask ask = {.index = index, .any_port = true, .found = found, .context = context};

    ask_all(&ask, target);
}
