/* SPDX-License-Identifier: Apache-2.0 */
#include "session/members.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/redact.h"

#include <stdio.h>
#include <string.h>

void members_time(char ret_time[static MEMBERS_TIME_BYTES])
{
    struct timespec now = clock_wall();
    struct tm date = {0};
    size_t length;

    (void)gmtime_r(&now.tv_sec, &date);
    length = strftime(ret_time, MEMBERS_TIME_BYTES, "%Y-%m-%dT%H:%M:%S", &date);
    (void)snprintf(ret_time + length, MEMBERS_TIME_BYTES - length, ".%03ldZ",
                   now.tv_nsec / 1000000);
}

/* Masked first: what is cut then is no half of a secret that would be shown. */
static void cut(struct strbuf *text)
{
    if (text->length <= MEMBERS_TEXT_BYTES || text->failed)
        return;
    text->length = MEMBERS_TEXT_BYTES;
    strbuf_add(text, "...");
}

static void put_text(struct strbuf *out, const char *name, const char *raw)
{
    autostrbuf struct strbuf text = {0};

    redact_text(&text, raw);
    cut(&text);
    json_put_text(out, name, &text);
}

static void put_words(struct strbuf *out, const struct member *member)
{
    struct redact_words words = {.next = REDACT_NOTHING};
    size_t count = 0;

    json_open(out, member->name, '[');
    for (const char *const *word = member->words; *word && count < MEMBERS_WORDS; word++, count++) {
        autostrbuf struct strbuf text = {0};

        if (member->is_command)
            redact_word(&words, &text, *word);
        else
            redact_text(&text, *word);
        cut(&text);
        json_put_text(out, NULL, &text);
    }
    if (member->words[count])
        json_put_string(out, NULL, "...");
    json_close(out, ']');
}

static void put_member(struct strbuf *out, const struct member *member)
{
    if (member->text)
        put_text(out, member->name, member->text);
    else if (member->number)
        json_put_uint(out, member->name, *member->number);
    else if (member->words)
        put_words(out, member);
}

static bool is_shown(const struct member *member, bool is_public)
{
    return !(is_public && member->is_private) && (member->text || member->number || member->words);
}

void members_as_json(struct strbuf *out, const struct member *members, size_t count, bool is_public)
{
    for (size_t i = 0; i < count; i++) {
        if (is_shown(&members[i], is_public))
            put_member(out, &members[i]);
    }
}

static void add_value(struct strbuf *out, const struct member *member)
{
    autostrbuf struct strbuf value = {0};
    struct member alone = *member;

    alone.name = NULL;
    put_member(&value, &alone);
    if (!value.failed)
        json_add_word(out, value.text, value.length);
    out->failed = out->failed || value.failed;
}

void members_as_text(struct strbuf *out, const struct member *members, size_t count, bool is_public)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_shown(&members[i], is_public))
            continue;
        strbuf_addf(out, " %s=", members[i].name);
        add_value(out, &members[i]);
    }
}

static void add_text(struct members_of_event *members, const char *name, const char *text)
{
    if (text && *text)
        members->items[members->count++] = (struct member){.name = name, .text = text};
}

static void add_number(struct members_of_event *members, unsigned slot, const char *name,
                       uint64_t number, uint64_t nothing)
{
    if (number == nothing)
        return;
    members->numbers[slot] = number;
    members->items[members->count++] =
        (struct member){.name = name, .number = &members->numbers[slot]};
}

static void add_argv(struct members_of_event *members, const char *argv)
{
    if (!argv || !*argv)
        return;
    event_split_argv(argv, members->argv, members->words, MEMBERS_WORDS + 1);
    members->items[members->count++] = (struct member){
        .name = "argv", .words = members->words, .is_command = true, .is_private = true};
}

void members_of_event(const struct event *event, struct members_of_event *ret_members)
{
    const char *const *texts = event->texts;
    struct members_of_event *to = ret_members;

    to->count = 0;
    add_text(to, "by", event_who_name(event->who));
    add_number(to, 0, "pid", (uint64_t)event->pid, 0);
    add_text(to, "comm", texts[EVENT_COMM]);
    add_text(to, "exe", texts[EVENT_EXE]);
    add_argv(to, texts[EVENT_ARGV]);
    add_text(to, "op", texts[EVENT_OP]);
    add_text(to, "call", texts[EVENT_CALL]);
    add_text(to, "path", texts[EVENT_PATH]);
    add_text(to, "rule", texts[EVENT_RULE]);
    add_text(to, "verdict", event_verdict_name(event->verdict));
    add_number(to, 1, "errno", (uint64_t)event->errnum, 0);
    add_text(to, "answer", event->errnum ? strerror(event->errnum) : NULL);
    add_text(to, "code", texts[EVENT_CODE]);
    add_text(to, "message", texts[EVENT_MESSAGE]);
    add_text(to, "hint", texts[EVENT_HINT]);
    add_number(to, 2, "times", event->times, 1);
    if (event->what == EVENT_REACHED) {
        add_number(to, 3, "sent", event->sent, UINT64_MAX);
        add_number(to, 4, "received", event->received, UINT64_MAX);
        add_number(to, 5, "uncounted", event->uncounted, 0);
    }
    add_number(to, 6, "lost", event->lost, 0);
}
