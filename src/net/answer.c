/* SPDX-License-Identifier: Apache-2.0 */
#include "net/answer.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

struct line {
    const char *at;
    size_t bytes;
};

/* The next line, without its end. False: it has none yet. */
static bool next_line(const char **at, const char *end, struct line *ret_line)
{
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));

    if (!newline)
        return false;
    *ret_line = (struct line){*at, (size_t)(newline - *at)};
    if (ret_line->bytes && newline[-1] == '\r')
        ret_line->bytes--;
    *at = newline + 1;
    return true;
}

static void trim(struct line *line)
{
    while (line->bytes && (*line->at == ' ' || *line->at == '\t'))
        *line = (struct line){line->at + 1, line->bytes - 1};
    while (line->bytes && (line->at[line->bytes - 1] == ' ' || line->at[line->bytes - 1] == '\t'))
        line->bytes--;
}

/* Whether the line is the field of this name; *ret_value: what it says. */
static bool is_field(struct line line, const char *name, struct line *ret_value)
{
    size_t length = strlen(name);

    if (line.bytes <= length || strncasecmp(line.at, name, length) != 0 || line.at[length] != ':')
        return false;
    *ret_value = (struct line){line.at + length + 1, line.bytes - length - 1};
    trim(ret_value);
    return true;
}

/* Whether a list has the word. */
static bool has_word(struct line list, const char *word)
{
    size_t length = strlen(word);

    while (list.bytes) {
        const char *comma = memchr(list.at, ',', list.bytes);
        struct line one = {list.at, comma ? (size_t)(comma - list.at) : list.bytes};
        size_t skip = one.bytes + (comma ? 1 : 0);

        trim(&one);
        if (one.bytes == length && strncasecmp(one.at, word, length) == 0)
            return true;
        list = (struct line){list.at + skip, list.bytes - skip};
    }
    return false;
}

static bool read_length(struct line text, uint64_t *ret_length)
{
    uint64_t length = 0;

    for (size_t i = 0; i < text.bytes; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        length = length * 10 + (uint64_t)(text.at[i] - '0');
    }
    *ret_length = length;
    return text.bytes > 0 && text.bytes <= 18;
}

/* What a line says of the body. False: it cannot be trusted to mean one thing. */
static bool read_field(struct line line, struct answer *answer, bool *has_length)
{
    struct line value;
    uint64_t length;

    if (memchr(line.at, '\0', line.bytes) || memchr(line.at, '\r', line.bytes) ||
        !memchr(line.at, ':', line.bytes) || *line.at == ' ' || *line.at == '\t')
        return false;
    if (is_field(line, "content-length", &value)) {
        if (!read_length(value, &length) || (*has_length && length != answer->body_bytes))
            return false;
        answer->body_bytes = length;
        *has_length = true;
    }
    if (is_field(line, "transfer-encoding", &value)) {
        if (answer->body == HTTP_CHUNKED || value.bytes != 7 ||
            strncasecmp(value.at, "chunked", 7) != 0)
            return false;
        answer->body = HTTP_CHUNKED;
    }
    if (is_field(line, "connection", &value) && has_word(value, "close"))
        answer->keeps = false;
    return !(*has_length && answer->body == HTTP_CHUNKED);
}

static void settle_body(struct answer *answer, bool is_head, bool has_length)
{
    bool has_none =
        is_head || answer->status < 200 || answer->status == 204 || answer->status == 304;

    answer->is_to_end = !has_none && !has_length && answer->body != HTTP_CHUNKED;
    answer->keeps = answer->keeps && !answer->is_to_end;
    if (has_none)
        answer->body = HTTP_NO_BODY;
    else if (has_length && answer->body_bytes)
        answer->body = HTTP_LENGTH;
}

int answer_read(const char *bytes, size_t size, bool is_head, struct answer *ret_answer)
{
    const char *end = bytes + size, *at = bytes;
    struct answer answer = {.status = http_read_status(bytes, size)};
    struct line line;
    bool has_length = false, is_good = true;

    if (answer.status < 0)
        return answer.status;
    answer.is_old = size < 8 || bytes[7] == '0';
    answer.keeps = !answer.is_old;
    for (bool is_first = true; next_line(&at, end, &line); is_first = false) {
        if (line.bytes == 0) {
            answer.head_bytes = (size_t)(at - bytes);
            settle_body(&answer, is_head, has_length);
            *ret_answer = answer;
            return is_good && answer.status && answer.head_bytes <= ANSWER_HEAD_MAX ? 1 : -EBADMSG;
        }
        is_good = is_good && (is_first || read_field(line, &answer, &has_length));
    }
    return size < ANSWER_HEAD_MAX ? 0 : -EBADMSG;
}

void answer_write(const char *bytes, const struct answer *answer, bool keeps, struct strbuf *out)
{
    /* What is between server and proxy. */
    static const char *const ours[] = {"connection", "keep-alive", "proxy-connection"};
    const char *end = bytes + answer->head_bytes, *at = bytes;
    struct line line, value;

    while (next_line(&at, end, &line) && line.bytes) {
        bool is_ours = false;

        for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
            is_ours = is_ours || is_field(line, ours[i], &value);
        if (!is_ours) {
            strbuf_add_bytes(out, line.at, line.bytes);
            strbuf_add(out, "\r\n");
        }
    }
    strbuf_add(out, keeps ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n");
}
