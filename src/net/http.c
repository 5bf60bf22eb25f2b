/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    BAD = 400,
    NOT_THIS_METHOD = 405,
    TOO_LARGE = 431,
    NO_SUCH_METHOD = 501,
    NO_SUCH_VERSION = 505
};

struct span {
    const char *at;
    size_t bytes;
};

struct field {
    struct span name, value;
};

/* A head: its lines behind the first one. */
struct fields {
    const char *at, *end;
};

/* What the fields say, each once. */
struct said {
    struct span host, length, coding, upgrade;
    bool is_upgrade_named, is_close_named;
};

static bool is_token_byte(char byte)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";

    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z') || (byte && strchr(marks, byte));
}

static bool is_named(struct span text, const char *name)
{
    return text.bytes == strlen(name) && strncasecmp(text.at, name, text.bytes) == 0;
}

static struct span trim(struct span text)
{
    while (text.bytes && (*text.at == ' ' || *text.at == '\t'))
        text = (struct span){text.at + 1, text.bytes - 1};
    while (text.bytes && (text.at[text.bytes - 1] == ' ' || text.at[text.bytes - 1] == '\t'))
        text.bytes--;
    return text;
}

/*
 * The bytes up to and with the empty line; 0 when it has not come yet. SECURITY:
 * a line ends with both bytes. Others take either for an end: then the two of us
 * would not see the same lines.
 */
static int find_end(const char *bytes, size_t size, size_t *ret_size)
{
    size_t line = 0;

    for (size_t i = 0; i < size && i < HTTP_HEAD_MAX; i++) {
        if (bytes[i] == '\r' && i + 1 < size && bytes[i + 1] != '\n')
            return -BAD;
        if (bytes[i] == '\0' || (bytes[i] == '\n' && (i == 0 || bytes[i - 1] != '\r')))
            return -BAD;
        if (bytes[i] != '\n')
            continue;
        if (i == line + 1) {
            *ret_size = i + 1;
            return line ? 1 : -BAD;
        }
        line = i + 1;
    }
    return size >= HTTP_HEAD_MAX ? -TOO_LARGE : 0;
}

/* The next field. 1, 0 at the end, or -1: broken. */
static int next_field(struct fields *fields, struct field *ret_field)
{
    const char *end = memchr(fields->at, '\r', (size_t)(fields->end - fields->at));
    const char *colon;
    struct span name, value;

    if (!end || end == fields->at)
        return 0;
    colon = memchr(fields->at, ':', (size_t)(end - fields->at));
    if (!colon || colon == fields->at)
        return -1;
    name = (struct span){fields->at, (size_t)(colon - fields->at)};
    value = trim((struct span){colon + 1, (size_t)(end - colon - 1)});
    /* A line that goes on with the one before begins with a space, which is no byte of a name. */
    for (size_t i = 0; i < name.bytes; i++)
        if (!is_token_byte(name.at[i]))
            return -1;
    for (size_t i = 0; i < value.bytes; i++)
        if (((unsigned char)value.at[i] < ' ' && value.at[i] != '\t') || value.at[i] == 0x7f)
            return -1;
    *ret_field = (struct field){name, value};
    fields->at = end + 2;
    return 1;
}

/* Whether a list such as that of Connection has the word. */
static bool has_word(struct span list, const char *word)
{
    while (list.bytes) {
        const char *comma = memchr(list.at, ',', list.bytes);
        size_t length = comma ? (size_t)(comma - list.at) : list.bytes;

        if (is_named(trim((struct span){list.at, length}), word))
            return true;
        length += comma ? 1 : 0;
        list = (struct span){list.at + length, list.bytes - length};
    }
    return false;
}

static const char *note_once(struct span *said, struct span value, const char *wrong)
{
    if (said->at)
        return wrong;
    *said = value;
    return NULL;
}

static const char *note_field(struct said *said, const struct field *field)
{
    if (is_named(field->name, "host"))
        return note_once(&said->host, field->value, "two fields Host");
    if (is_named(field->name, "content-length"))
        return note_once(&said->length, field->value, "two fields Content-Length");
    if (is_named(field->name, "transfer-encoding"))
        return note_once(&said->coding, field->value, "two fields Transfer-Encoding");
    if (is_named(field->name, "upgrade"))
        return note_once(&said->upgrade, field->value, "two fields Upgrade");
    if (is_named(field->name, "connection"))
        said->is_upgrade_named |= has_word(field->value, "upgrade");
    if (is_named(field->name, "connection") || is_named(field->name, "proxy-connection"))
        said->is_close_named |= has_word(field->value, "close");
    return NULL;
}

/* One that a request has when it goes on, whether or not it came with it. */
static bool is_written(struct span name)
{
    return is_named(name, "host") || is_named(name, "connection") || is_named(name, "upgrade");
}

static int read_fields(struct fields fields, struct said *said, const char **ret_wrong)
{
    struct field field;
    size_t count = 0;
    int result;

    while ((result = next_field(&fields, &field)) > 0) {
        *ret_wrong = note_field(said, &field);
        if (*ret_wrong)
            return -BAD;
        if (!is_written(field.name) && ++count > HTTP_FIELDS_MAX) {
            *ret_wrong = "too many fields";
            return -TOO_LARGE;
        }
    }
    *ret_wrong = "a field that is none";
    return result < 0 ? -BAD : 0;
}

static const char *read_host(struct span text, uint16_t default_port, struct host *ret_host)
{
    char target[LIMIT_HOST_BYTES + 16];
    const char *bracket = text.bytes ? memchr(text.at, ']', text.bytes) : NULL;
    const char *from = bracket ? bracket : text.at;
    bool has_port = text.bytes && memchr(from, ':', text.bytes - (size_t)(from - text.at));

    if (text.bytes == 0 || text.bytes > LIMIT_HOST_BYTES + 8 || (!has_port && !default_port))
        return "no host and port that can be read";
    if (has_port)
        (void)snprintf(target, sizeof(target), "%.*s", (int)text.bytes, text.at);
    else
        (void)snprintf(target, sizeof(target), "%.*s:%u", (int)text.bytes, text.at, default_port);
    return host_parse_target(target, ret_host);
}

bool http_is_same_host(const struct host *a, const struct host *b)
{
    return a->kind == b->kind && a->port == b->port && strcmp(a->name, b->name) == 0;
}

/* "http://HOST/PATH", "/PATH", "*" or, for CONNECT, "HOST:PORT". */
static const char *read_target(struct span target, const struct said *said, uint16_t default_port,
                               struct http_request *request)
{
    static const char scheme[] = "http://";
    size_t skip = sizeof(scheme) - 1;
    struct host named;
    const char *wrong;
    const char *end;

    request->path = target.at;
    request->path_bytes = target.bytes;
    if (request->is_connect)
        wrong = read_host(target, 0, &request->to);
    else if (target.bytes > skip && strncasecmp(target.at, scheme, skip) == 0) {
        size_t length = 0;

        while (length < target.bytes - skip && !memchr("/?#", target.at[skip + length], 3))
            length++;
        wrong = read_host((struct span){target.at + skip, length}, 80, &request->to);
        end = target.at + skip + length;
        request->path = end;
        request->path_bytes = target.bytes - skip - length;
        request->is_absolute = true;
        default_port = 80;
    } else if (*target.at == '/' || (target.bytes == 1 && *target.at == '*')) {
        return said->host.at ? read_host(said->host, default_port, &request->to) : "no field Host";
    } else {
        return "a target that is none";
    }
    if (wrong || !said->host.at)
        return wrong;
    wrong = read_host(said->host, request->is_connect ? request->to.port : default_port, &named);
    if (wrong)
        return wrong;
    return http_is_same_host(&named, &request->to) ? NULL : "Host is not the host of the target";
}

static const char *read_length(struct span text, uint64_t *ret_length)
{
    uint64_t length = 0;

    if (text.bytes == 0 || text.bytes > 18)
        return "a Content-Length that is none";
    for (size_t i = 0; i < text.bytes; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return "a Content-Length that is none";
        length = length * 10 + (uint64_t)(text.at[i] - '0');
    }
    *ret_length = length;
    return NULL;
}

static const char *read_body(const struct said *said, bool is_old, struct http_request *request)
{
    if (said->coding.at && (is_old || said->length.at || !is_named(said->coding, "chunked")))
        return "a body whose end cannot be told for sure";
    if (request->is_connect && (said->coding.at || said->length.at))
        return "CONNECT has no body";
    if (said->upgrade.at && request->is_connect)
        return "CONNECT has no upgrade";
    /* Any other one is left out: a server may always answer as if nobody had asked for it. */
    request->upgrades =
        said->upgrade.at && said->is_upgrade_named && is_named(said->upgrade, "websocket");
    if (said->coding.at)
        request->body = HTTP_CHUNKED;
    else if (said->length.at) {
        const char *wrong = read_length(said->length, &request->body_bytes);

        request->body = request->body_bytes ? HTTP_LENGTH : HTTP_NO_BODY;
        return wrong;
    }
    return NULL;
}

/* The first line: METHOD TARGET HTTP/1.x */
static int read_line(struct span line, struct http_request *request, struct span *ret_target,
                     bool *ret_is_old, const char **ret_wrong)
{
    const char *first = memchr(line.at, ' ', line.bytes);
    const char *last = memrchr(line.at, ' ', line.bytes);
    struct span version;

    *ret_wrong = "a first line that is none";
    if (!first || last <= first + 1)
        return -BAD;
    request->method = line.at;
    request->method_bytes = (size_t)(first - line.at);
    *ret_target = (struct span){first + 1, (size_t)(last - first - 1)};
    version = (struct span){last + 1, line.bytes - (size_t)(last + 1 - line.at)};
    for (size_t i = 0; i < request->method_bytes; i++)
        if (!is_token_byte(line.at[i]))
            return -BAD;
    for (size_t i = 0; i < ret_target->bytes; i++)
        if (ret_target->at[i] <= ' ' || ret_target->at[i] == 0x7f)
            return -BAD;
    if (request->method_bytes == 0)
        return -BAD;
    *ret_wrong = "an unknown method";
    if (request->method_bytes > HTTP_METHOD_MAX)
        return -NO_SUCH_METHOD;
    if (is_named((struct span){request->method, request->method_bytes}, "TRACE"))
        return -NOT_THIS_METHOD;
    *ret_is_old = version.bytes == 8 && memcmp(version.at, "HTTP/1.0", 8) == 0;
    *ret_wrong = "not HTTP/1";
    return *ret_is_old || (version.bytes == 8 && memcmp(version.at, "HTTP/1.1", 8) == 0)
               ? 0
               : -NO_SUCH_VERSION;
}

bool http_may_be_request(const char *bytes, size_t size)
{
    const char *end = memchr(bytes, '\n', size);
    size_t method = 0;

    while (method < size && method <= HTTP_METHOD_MAX && bytes[method] >= 'A' &&
           bytes[method] <= 'Z')
        method++;
    if (method == 0 || method > HTTP_METHOD_MAX || (method < size && bytes[method] != ' '))
        return false;
    return !end || memmem(bytes, (size_t)(end - bytes), " HTTP/", 6);
}

int http_read_request(const char *bytes, size_t size, uint16_t default_port,
                      struct http_request *ret_request, const char **ret_wrong)
{
    struct http_request request = {0};
    struct said said = {0};
    struct span target;
    bool is_old = false;
    const char *end;
    int result = find_end(bytes, size, &request.head_bytes);

    *ret_request = request;
    *ret_wrong = result == -TOO_LARGE ? "a head that is too large" : "a line that has no end";
    if (result <= 0)
        return result;
    end = memchr(bytes, '\r', request.head_bytes);
    result = read_line((struct span){bytes, (size_t)(end - bytes)}, &request, &target, &is_old,
                       ret_wrong);
    if (result == 0)
        result =
            read_fields((struct fields){end + 2, bytes + request.head_bytes}, &said, ret_wrong);
    if (result < 0)
        return result;
    request.is_connect = request.method_bytes == 7 && memcmp(request.method, "CONNECT", 7) == 0;
    *ret_wrong = read_target(target, &said, default_port, &request);
    if (!*ret_wrong)
        *ret_wrong = read_body(&said, is_old, &request);
    if (*ret_wrong)
        return -BAD;
    request.keeps = !is_old && !said.is_close_named && !request.upgrades;
    *ret_request = request;
    return 1;
}

/* What is between client and proxy, or says where the connection ends. */
static bool is_for_us(struct span name, struct fields all)
{
    /* The last one is a word of Connection, should a field have that name. */
    static const char *const ours[] = {
        "connection", "proxy-connection", "keep-alive", "te",   "proxy-authorization",
        "host",       "upgrade",          "trailer",    "close"};
    struct field field;

    for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
        if (is_named(name, ours[i]))
            return true;
    /* SECURITY: not those that say where the body ends, whatever a client calls its own. */
    if (is_named(name, "content-length") || is_named(name, "transfer-encoding"))
        return false;
    while (next_field(&all, &field) > 0) {
        char text[64];

        (void)snprintf(text, sizeof(text), "%.*s", (int)name.bytes, name.at);
        if (is_named(field.name, "connection") && name.bytes < sizeof(text) &&
            has_word(field.value, text))
            return true;
    }
    return false;
}

bool http_may_follow(const struct http_request *request)
{
    const struct span method = {request->method, request->method_bytes};

    return request->keeps && request->body == HTTP_NO_BODY &&
           (is_named(method, "GET") || is_named(method, "HEAD") || is_named(method, "OPTIONS"));
}

void http_write_request(const char *bytes, const struct http_request *request, struct strbuf *out)
{
    const char *end = memchr(bytes, '\r', request->head_bytes);
    struct fields all = {end + 2, bytes + request->head_bytes};
    struct fields fields = all;
    bool is_v6 = request->to.kind == HOST_ADDRESS && strchr(request->to.name, ':');
    /* "http://host?query" has no path, and a server needs one. */
    bool has_path = request->path_bytes && (*request->path == '/' || *request->path == '*');
    struct field field;

    strbuf_addf(out, "%.*s %s%.*s HTTP/1.1\r\n", (int)request->method_bytes, request->method,
                has_path ? "" : "/", (int)request->path_bytes, request->path);
    strbuf_addf(out, "Host: %s%s%s", is_v6 ? "[" : "", request->to.name, is_v6 ? "]" : "");
    if (request->to.port != 80)
        strbuf_addf(out, ":%u", request->to.port);
    strbuf_add(out, "\r\n");
    while (next_field(&fields, &field) > 0) {
        if (is_for_us(field.name, all))
            continue;
        strbuf_addf(out, "%.*s: %.*s\r\n", (int)field.name.bytes, field.name.at,
                    (int)field.value.bytes, field.value.at);
    }
    if (request->upgrades)
        strbuf_add(out, "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    else
        strbuf_add(out, http_may_follow(request) ? "Connection: keep-alive\r\n\r\n"
                                                 : "Connection: close\r\n\r\n");
}

int http_read_status(const char *bytes, size_t size)
{
    static const char front[] = "HTTP/1.";
    int status = 0;

    for (size_t i = 0; i < size && i < 7; i++)
        if (bytes[i] != front[i])
            return -EBADMSG;
    if (size < 13)
        return 0;
    if ((bytes[7] != '0' && bytes[7] != '1') || bytes[8] != ' ' ||
        (bytes[12] != ' ' && bytes[12] != '\r'))
        return -EBADMSG;
    for (size_t i = 9; i < 12; i++) {
        if (bytes[i] < '0' || bytes[i] > '9')
            return -EBADMSG;
        status = status * 10 + bytes[i] - '0';
    }
    return status >= 100 ? status : -EBADMSG;
}
