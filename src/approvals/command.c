/* SPDX-License-Identifier: Apache-2.0 */
/* What clients may say: docs/PROTOCOL-approvals.md has the words. */
#include "approvals/own.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { VERSION = 1, SEQ_BYTES = 64, WORD_BYTES = 32 };

struct command {
    struct peer *peer;
    char *to; /* its seq, as JSON; owned; NULL: none */
    json_t *object;
    const char *type;
};

struct command_row {
    const char *type;
    bool needs_hello;
    const char *const *members; /* besides type and seq; ended by NULL */
    /* 0: it has been answered, or will be. */
    int (*run)(const struct command *command, struct bawn_error *err);
};

void command_reply(struct strbuf *out, const char *to)
{
    json_open(out, NULL, '{');
    json_put_string(out, "type", "reply");
    if (to)
        json_put_raw(out, "to", to);
    else
        json_put_string(out, "to", NULL);
}

void command_fail(struct peer *peer, const char *to, const struct bawn_error *error)
{
    autostrbuf struct strbuf line = {0};

    command_reply(&line, to);
    json_open(&line, "error", '{');
    json_put_string(&line, "code", error->code);
    json_put_string(&line, "message", error->message);
    json_put_string(&line, "hint", error->hint);
    json_close(&line, '}');
    json_close(&line, '}');
    strbuf_add(&line, "\n");
    peer_say(peer, &line);
}

static void say_ok(const struct command *command)
{
    autostrbuf struct strbuf line = {0};

    command_reply(&line, command->to);
    json_put_bool(&line, "ok", true);
    json_close(&line, '}');
    strbuf_add(&line, "\n");
    peer_say(command->peer, &line);
}

static int refuse(struct bawn_error *err, const char *code, const char *what, const char *hint)
{
    (void)error_set(err, EINVAL, code, "%s", what);
    error_hint(err, "%s", hint);
    return -EINVAL;
}

/* A text that must be there, or NULL and *err. */
static const char *text_of(const struct command *command, const char *key, struct bawn_error *err)
{
    const char *text = json_string_value(json_object_get(command->object, key));

    if (!text) {
        (void)error_set(err, EINVAL, "protocol.member", "%s needs a text \"%s\"", command->type,
                        key);
        error_hint(err, "docs/PROTOCOL-approvals.md has each command");
    }
    return text;
}

/* One of the words, by its number; -ENOENT: the member is not there. */
static int word_of(const struct command *command, const char *key, const char *const *words,
                   struct bawn_error *err)
{
    const json_t *value = json_object_get(command->object, key);
    const char *text = json_string_value(value);
    char shown[WORD_BYTES];

    if (!value)
        return -ENOENT;
    for (int i = 0; text && words[i]; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    text_escape(shown, sizeof(shown), text ? text : "?", text ? strlen(text) : 1, TEXT_ONE_LINE);
    (void)error_set(err, EINVAL, "protocol.value", "\"%s\": '%s' is none of its words", key, shown);
    error_hint(err, "docs/PROTOCOL-approvals.md has each command");
    return -EINVAL;
}

static int run_hello(const struct command *command, struct bawn_error *err)
{
    const json_t *version = json_object_get(command->object, "version");
    struct peer *peer = command->peer;
    autostrbuf struct strbuf line = {0};

    if (!json_is_integer(version) || json_integer_value(version) != VERSION) {
        (void)error_set(err, EPROTO, "protocol.version", "this bawn speaks version %d", VERSION);
        error_hint(err, "say {\"type\": \"cmd.hello\", \"version\": %d}", VERSION);
        return -EPROTO;
    }
    command_reply(&line, command->to);
    json_put_bool(&line, "ok", true);
    json_put_uint(&line, "version", VERSION);
    json_put_string(&line, "bawn", BAWN_VERSION);
    json_close(&line, '}');
    strbuf_add(&line, "\n");
    peer_say(peer, &line);
    if (!peer->is_greeted) {
        peer->is_greeted = true;
        approvals_attend(peer->approvals);
    }
    return 0;
}

enum scope { SCOPE_ONCE, SCOPE_FILE, SCOPE_DIR, SCOPE_HOST };
static const char *const scopes[] = {"once", "file", "dir", "host", NULL};
/* Behind the first: enum bawn_scope. */
static const char *const lasting[] = {"session", "user", "project", "local", "org", NULL};
_Static_assert(BAWN_SCOPE_USER == 0 && BAWN_SCOPE_PROJECT == 1 && BAWN_SCOPE_LOCAL == 2 &&
                   BAWN_SCOPE_ORG == 3,
               "the order of the words");

/* What the answer is to hold for, where that goes with the question. */
static int read_scope(const struct command *command, const struct question *question,
                      struct bawn_answer *answer, struct bawn_error *err)
{
    int scope = word_of(command, "scope", scopes, err);
    int persist = word_of(command, "persist", lasting, err);

    if (scope == -EINVAL || persist == -EINVAL)
        return -EINVAL;
    if (scope < 0)
        scope = persist < 0 ? SCOPE_ONCE : question->is_net ? SCOPE_HOST : SCOPE_FILE;
    if (scope == SCOPE_ONCE && persist >= 0)
        return refuse(err, "approve.scope", "what holds once is kept nowhere",
                      "leave out \"persist\", or give \"scope\": \"file\", \"dir\" or \"host\"");
    if (scope != SCOPE_ONCE && question->is_net != (scope == SCOPE_HOST))
        return refuse(err, "approve.scope", "the question is about something else",
                      "\"file\" and \"dir\" are for event.fs_request, \"host\" for "
                      "event.net_request, \"once\" for both");
    if (scope == SCOPE_DIR && !question->has_tree)
        return refuse(err, "approve.scope", "its directory cannot be granted as a whole",
                      "only a question with \"grant_tree\" has the scope \"dir\"; use \"file\"");
    if (persist > 0 && !question->has_grant)
        return refuse(err, "approve.scope", "no rule of yours can say that in later sessions",
                      "only a question with \"grant\" can be kept; use \"persist\": \"session\"");
    answer->scope = scope == SCOPE_ONCE  ? BAWN_ANSWER_ONCE
                    : scope == SCOPE_DIR ? BAWN_ANSWER_SESSION_TREE
                                         : BAWN_ANSWER_SESSION;
    if (persist > 0) {
        answer->flags = BAWN_ANSWER_SAVE;
        answer->saved_in = (enum bawn_scope)(persist - 1);
    }
    return 0;
}

static int run_answer(const struct command *command, struct bawn_error *err)
{
    struct approvals *approvals = command->peer->approvals;
    struct bawn_answer answer = {.is_allowed = strcmp(command->type, "cmd.approve") == 0};
    const char *id = text_of(command, "id", err);
    struct served *session = NULL;
    const struct question *question = id ? sessions_question(approvals, id, &session) : NULL;
    int result;

    if (!id)
        return -EINVAL;
    if (!question)
        return refuse(err, "approve.unknown", "no such question waits",
                      "it may be settled; ids are as event.fs_request and event.net_request have "
                      "them");
    result = read_scope(command, question, &answer, err);
    if (result == 0)
        result = bawn_approver_answer(session->approver, question->id, &answer, err);
    if (result == 0)
        say_ok(command);
    return result;
}

static int run_save(const struct command *command, struct bawn_error *err)
{
    const char *rule = text_of(command, "rule", err);
    const char *space = rule ? strchr(rule, ' ') : NULL;
    const json_t *sid = json_object_get(command->object, "session");
    const struct served *session;
    struct save_request request = {0};
    char word[WORD_BYTES];
    int scope = rule ? word_of(command, "scope", lasting + 1, err) : -EINVAL;

    if (!rule || scope == -EINVAL)
        return -EINVAL;
    if (!space || (size_t)(space - rule) >= sizeof(word) || !space[1])
        return refuse(err, "protocol.value", "\"rule\" is a word and what it is about",
                      "for example \"read /srv/data\", as for 'bawn policy save'");
    session = json_string_value(sid)
                  ? sessions_find(command->peer->approvals, json_string_value(sid))
                  : NULL;
    if (sid && !session)
        return refuse(err, "session.unknown", "no such session is served here",
                      "event.session tells of those that are");
    if (!session && (scope == BAWN_SCOPE_PROJECT || scope == BAWN_SCOPE_LOCAL))
        return refuse(err, "protocol.member", "whose project? \"session\" is missing",
                      "name a session: the rule goes into the policy of its workspace");
    (void)snprintf(word, sizeof(word), "%.*s", (int)(space - rule), rule);
    request.scope = lasting[1 + (scope < 0 ? BAWN_SCOPE_USER : scope)];
    request.word = word;
    request.text = space + 1;
    request.workspace = session ? session->workspace : NULL;
    return save_start(command->peer, command->to, &request, err);
}

static const struct command_row rows[] = {
    {"cmd.hello", false, (const char *const[]){"version", NULL}, run_hello},
    {"cmd.approve", true, (const char *const[]){"id", "scope", "persist", NULL}, run_answer},
    {"cmd.deny", true, (const char *const[]){"id", "scope", "persist", NULL}, run_answer},
    {"cmd.policy.save", true, (const char *const[]){"scope", "rule", "session", NULL}, run_save},
};

static const struct command_row *find_row(const char *type)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].type, type) == 0)
            return &rows[i];
    return NULL;
}

/* SECURITY: a member that is overlooked would make another answer of it. */
static int check_members(const struct command *command, const struct command_row *row,
                         struct bawn_error *err)
{
    const char *key;
    json_t *value;

    json_object_foreach(command->object, key, value)
    {
        bool is_known = strcmp(key, "type") == 0 || strcmp(key, "seq") == 0;
        char shown[WORD_BYTES];

        for (const char *const *member = row->members; *member && !is_known; member++)
            is_known = strcmp(*member, key) == 0;
        if (is_known)
            continue;
        text_escape(shown, sizeof(shown), key, strlen(key), TEXT_ONE_LINE);
        (void)error_set(err, EINVAL, "protocol.member", "%s has no \"%s\"", row->type, shown);
        error_hint(err, "docs/PROTOCOL-approvals.md has each command");
        return -EINVAL;
    }
    return 0;
}

static int take_seq(struct command *command, struct bawn_error *err)
{
    const json_t *seq = json_object_get(command->object, "seq");

    if (!seq)
        return 0;
    if (!json_is_integer(seq) && json_string_length(seq) > SEQ_BYTES)
        seq = NULL;
    if (seq && (json_is_integer(seq) || json_is_string(seq)))
        command->to = json_dumps(seq, JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_COMPACT);
    else
        return refuse(err, "protocol.value", "\"seq\" is a whole number, or a text of 64 bytes",
                      "it comes back as \"to\" of the reply");
    return command->to ? 0 : error_memory(err);
}

static int run(struct command *command, struct bawn_error *err)
{
    const struct command_row *row;
    char shown[WORD_BYTES];
    int result;

    if (!json_is_object(command->object))
        return refuse(err, "protocol.json", "a command is one JSON object in a line",
                      "for example {\"type\": \"cmd.hello\", \"version\": 1}");
    result = take_seq(command, err);
    if (result < 0)
        return result;
    command->type = json_string_value(json_object_get(command->object, "type"));
    row = command->type ? find_row(command->type) : NULL;
    if (!row) {
        const char *type = command->type ? command->type : "";

        text_escape(shown, sizeof(shown), type, strlen(type), TEXT_ONE_LINE);
        (void)error_set(err, ENOSYS, "protocol.unknown", "'%s' is no command", shown);
        error_hint(err, "the commands are cmd.hello, cmd.approve, cmd.deny and cmd.policy.save");
        return -ENOSYS;
    }
    if (row->needs_hello && !command->peer->is_greeted)
        return refuse(err, "protocol.hello", "cmd.hello comes first",
                      "say {\"type\": \"cmd.hello\", \"version\": 1}");
    result = check_members(command, row, err);
    return result < 0 ? result : row->run(command, err);
}

void command_take(struct peer *peer, const char *line, size_t length)
{
    struct command command = {.peer = peer};
    struct bawn_error error = {0};
    json_error_t wrong;
    int result;

    /* jansson refuses what is deeper than 2048, what is not UTF-8, and a NUL. */
    command.object = json_loadb(line, length, JSON_REJECT_DUPLICATES, &wrong);
    if (command.object) {
        result = run(&command, &error);
    } else {
        char shown[JSON_ERROR_TEXT_LENGTH];

        text_escape(shown, sizeof(shown), wrong.text, strlen(wrong.text), TEXT_ONE_LINE);
        result = error_set(&error, EINVAL, "protocol.json", "not JSON: %s", shown);
        error_hint(&error, "a command is one JSON object in a line, in UTF-8");
    }
    if (result < 0)
        command_fail(peer, command.to, &error);
    json_decref(command.object);
    free(command.to);
}
