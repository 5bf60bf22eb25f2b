/* SPDX-License-Identifier: Apache-2.0 */
#include "net/resolv_conf.h"

#include "base/text.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

#define BLANKS " \t\r\v\f"
#define ENDS   BLANKS ";#\n"

enum { TIMEOUT_MAX = 30, ATTEMPTS_MAX = 5, WORD_BYTES = 80 };

/* The next word of the line as text of its own; false at the end. A word that is too long is none
 * that means anything. */
static bool next_word(const char **line, char out[static WORD_BYTES])
{
    const char *start = *line + strspn(*line, BLANKS);
    size_t length = strcspn(start, ENDS);

    *line = start + length;
    if (length == 0)
        return false;
    if (length >= WORD_BYTES)
        length = 0;
    memcpy(out, start, length);
    out[length] = '\0';
    return true;
}

static bool read_scope(const char *text, char out[static IF_NAMESIZE])
{
    size_t length = strlen(text);

    if (length == 0 || length >= IF_NAMESIZE)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!isalnum((unsigned char)text[i]) && !strchr("._-", text[i]))
            return false;
    }
    memcpy(out, text, length + 1);
    return true;
}

static void read_server(const char *line, struct resolv_conf *conf)
{
    struct resolv_server server = {.is_v6 = false};
    char word[WORD_BYTES];
    unsigned char bytes[16];
    char *scope;

    if (conf->server_count == RESOLV_SERVERS || !next_word(&line, word))
        return;
    scope = strchr(word, '%');
    if (scope)
        *scope++ = '\0';
    server.is_v6 = strchr(word, ':');
    if (inet_pton(server.is_v6 ? AF_INET6 : AF_INET, word, bytes) != 1 ||
        (scope && (!server.is_v6 || !read_scope(scope, server.scope))))
        return;
    /* Only there an interface tells one from another. */
    if (bytes[0] != 0xfe || (bytes[1] & 0xc0) != 0x80)
        server.scope[0] = '\0';
    (void)inet_ntop(server.is_v6 ? AF_INET6 : AF_INET, bytes, server.address,
                    sizeof(server.address));
    conf->servers[conf->server_count++] = server;
}

static void read_number(const char *text, unsigned max, unsigned *number)
{
    uint64_t value;

    if (!text_parse_count(text, UINT32_MAX, &value))
        return;
    *number = value < 1 ? 1 : value > max ? max : (unsigned)value;
}

static void read_options(const char *line, struct resolv_conf *conf)
{
    char word[WORD_BYTES];

    while (next_word(&line, word)) {
        if (strncmp(word, "timeout:", 8) == 0)
            read_number(word + 8, TIMEOUT_MAX, &conf->timeout_seconds);
        else if (strncmp(word, "attempts:", 9) == 0)
            read_number(word + 9, ATTEMPTS_MAX, &conf->attempts);
        else if (strcmp(word, "use-vc") == 0)
            conf->use_tcp = true;
    }
}

void resolv_conf_read(const char *text, struct resolv_conf *ret_conf)
{
    static const struct resolv_server local = {.address = "127.0.0.1"};
    char word[WORD_BYTES];

    *ret_conf = (struct resolv_conf){.timeout_seconds = 5, .attempts = 2};
    while (*text) {
        const char *line = text;

        /* A keyword stands at the very start. */
        if (!strchr(BLANKS, *line) && next_word(&line, word)) {
            if (strcmp(word, "nameserver") == 0)
                read_server(line, ret_conf);
            else if (strcmp(word, "options") == 0)
                read_options(line, ret_conf);
        }
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    if (ret_conf->server_count == 0)
        ret_conf->servers[ret_conf->server_count++] = local;
}

bool resolv_conf_is_same(const struct resolv_conf *a, const struct resolv_conf *b)
{
    if (a->server_count != b->server_count || a->timeout_seconds != b->timeout_seconds ||
        a->attempts != b->attempts || a->use_tcp != b->use_tcp)
        return false;
    for (size_t i = 0; i < a->server_count; i++) {
        if (strcmp(a->servers[i].address, b->servers[i].address) != 0 ||
            strcmp(a->servers[i].scope, b->servers[i].scope) != 0)
            return false;
    }
    return true;
}
