/* SPDX-License-Identifier: Apache-2.0 */
/* Reading audit trails, and finding out whether one is as it was written. */
#include <bawn/audit.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "session/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>

enum {
    BLOCK_BYTES = 64 * 1024,
    LINE_BYTES = 2 * 1024 * 1024, /* no record is longer */
    LAST_BYTES = 64 * 1024,       /* where the last one is looked for */
    LOOK_MS = 250,                /* a launcher that is killed does not tell */
    COMMAND_BYTES = 256,
};

struct bawn_audit {
    struct ledger_place place;
    char id[LEDGER_ID_BYTES];
    int fd, head_fd; /* the second may be a negative errno */
    struct strbuf block;
    size_t used; /* of the block */
    uint64_t at; /* in the file, behind the block */
    char *shown; /* the record that was read last */
    uint64_t mended;
    int watch_fd; /* of inotify, or -EBADF */
    bool is_over;
    char words[256];
};

void bawn_audit_close(struct bawn_audit *audit)
{
    if (!audit)
        return;
    ledger_close_place(&audit->place);
    if (audit->fd >= 0)
        (void)close(audit->fd);
    if (audit->head_fd >= 0)
        (void)close(audit->head_fd);
    if (audit->watch_fd >= 0)
        (void)close(audit->watch_fd);
    strbuf_done(&audit->block);
    free(audit->shown);
    free(audit);
}

static void close_audit(struct bawn_audit **audit)
{
    bawn_audit_close(*audit);
}
#define autoaudit __attribute__((cleanup(close_audit)))

const char *bawn_audit_id(const struct bawn_audit *audit)
{
    return audit->id;
}

uint64_t bawn_audit_mended(const struct bawn_audit *audit)
{
    return audit->mended;
}

static void rewind_to(struct bawn_audit *audit, uint64_t at)
{
    audit->at = at;
    audit->used = audit->block.length = 0;
}

/* The next line without its newline, in the block. 1: there is one; 0: not now. */
static int next_line(struct bawn_audit *audit, const char **ret_line, size_t *ret_length,
                     struct bawn_error *err)
{
    struct strbuf *block = &audit->block;
    size_t looked = 0;

    for (;;) {
        size_t left = block->length - audit->used;
        const char *line = block->text ? block->text + audit->used : "";
        const char *end = left > looked ? memchr(line + looked, '\n', left - looked) : NULL;
        char bytes[BLOCK_BYTES];
        ssize_t got;

        if (end || left > LINE_BYTES) {
            *ret_line = line;
            *ret_length = end ? (size_t)(end - line) : left;
            audit->used += *ret_length + (end != NULL);
            return 1;
        }
        looked = left;
        if (audit->used > 0 && block->text) {
            memmove(block->text, line, left);
            block->length = left;
            audit->used = 0;
        }
        do
            got = pread(audit->fd, bytes, sizeof(bytes), (off_t)audit->at);
        while (got < 0 && errno == EINTR);
        if (got < 0)
            return error_errno(err, errno, "%s: read the audit trail", audit->id);
        if (got == 0)
            return 0;
        strbuf_add_bytes(block, bytes, (size_t)got);
        if (block->failed)
            return error_memory(err);
        audit->at += (uint64_t)got;
    }
}

static bool read_head(const struct bawn_audit *audit, struct chain *ret_head)
{
    char bytes[CHAIN_HEAD_BYTES + 2] = "";
    ssize_t got = audit->head_fd < 0 ? -1 : pread(audit->head_fd, bytes, CHAIN_HEAD_BYTES + 1, 0);

    /* It is there before the first record, and empty. */
    chain_init(ret_head);
    return got == 0 || (got > 0 && chain_read_head(bytes, (size_t)got, ret_head));
}

static bool ends_well(int fd)
{
    struct stat status;
    char last = '\n';

    return fstat(fd, &status) == 0 &&
           (status.st_size == 0 || pread(fd, &last, 1, status.st_size - 1) == 1) && last == '\n';
}

/*
 * What is behind the last newline, where its writer is gone: a record that was torn. Not so where
 * the head knows of more records than there are: then something was cut off, and stays as it is.
 */
static int mend(struct bawn_audit *audit, struct bawn_error *err)
{
    uint64_t lines = 0, end = 0;
    struct chain head;
    const char *line;
    struct stat status;
    size_t length;
    int result;

    if (ends_well(audit->fd) || flock(audit->fd, LOCK_EX | LOCK_NB) < 0)
        return 0;
    while ((result = next_line(audit, &line, &length, err)) > 0) {
        lines++;
        end += length + 1;
    }
    if (result == 0 && fstat(audit->fd, &status) == 0 && (uint64_t)status.st_size > end &&
        read_head(audit, &head) && head.count <= lines && ftruncate(audit->fd, (off_t)end) == 0)
        audit->mended = (uint64_t)status.st_size - end;
    (void)flock(audit->fd, LOCK_UN);
    rewind_to(audit, 0);
    return result;
}

static int refuse(const char *word, size_t found, struct bawn_error *err)
{
    char shown[64];

    text_escape(shown, sizeof(shown), word ? word : "", word ? strlen(word) : 0, TEXT_ONE_LINE);
    if (!word && found == 0)
        (void)error_set(err, ESRCH, "audit.none", "nothing was recorded so far");
    else if (!word)
        (void)error_set(err, EINVAL, "audit.ambiguous", "which session? %zu are recorded", found);
    else if (found == 0)
        (void)error_set(err, ESRCH, "audit.unknown", "%s: no such session is recorded", shown);
    else
        (void)error_set(err, EINVAL, "audit.ambiguous", "%s: %zu recorded sessions begin so", shown,
                        found);
    error_hint(err, "'bawn audit' lists those that are recorded");
    return found == 0 ? -ESRCH : -EINVAL;
}

static bool begins_so(const char *id, const char *word)
{
    size_t length = word ? strlen(word) : 0;

    return !word || strncmp(id, word, length) == 0 ||
           strncmp(id + LEDGER_TIME_LENGTH + 1, word, length) == 0;
}

static int find(const struct ledger_place *place, const char *word,
                char ret_id[static LEDGER_ID_BYTES], struct bawn_error *err)
{
    autoledgerids struct ledger_ids ids = {0};
    bool is_whole = word && ledger_is_id(word);
    int result = place->dir_fd < 0 || is_whole ? 0 : ledger_list(place, &ids, err);
    size_t found = 0;

    if (result < 0)
        return result;
    if (is_whole && place->dir_fd >= 0) {
        memcpy(ret_id, word, LEDGER_ID_BYTES);
        return 0;
    }
    vec_each (&ids.items, id) {
        if (begins_so(*id, word))
            found += snprintf(ret_id, LEDGER_ID_BYTES, "%s", *id) > 0;
    }
    return found == 1 ? 0 : refuse(word, found, err);
}

static int open_audit(struct bawn_audit *audit, const char *id, struct bawn_error *err)
{
    int result = ledger_open_place(&audit->place, false, err);

    if (result == 0 || result == -ENOENT)
        result = find(&audit->place, id, audit->id, err);
    if (result < 0)
        return result;
    audit->fd = ledger_open(&audit->place, audit->id, O_RDWR, &audit->head_fd);
    if (audit->fd == -ENOENT)
        return refuse(audit->id, 0, err);
    return audit->fd < 0 ? error_errno(err, -audit->fd, "%s: open the audit trail", audit->id)
                         : mend(audit, err);
}

int bawn_audit_open(const char *id, struct bawn_audit **ret_audit, struct bawn_error *err)
{
    autoaudit struct bawn_audit *audit = calloc(1, sizeof(*audit));
    int result;

    *ret_audit = NULL;
    if (!audit)
        return error_memory(err);
    audit->place = (struct ledger_place)LEDGER_NOWHERE;
    audit->fd = audit->head_fd = audit->watch_fd = -EBADF;
    result = open_audit(audit, id, err);
    if (result == 0)
        *ret_audit = take_ptr(&audit);
    return result;
}

int bawn_audit_read(struct bawn_audit *audit, const char **ret_record, struct bawn_error *err)
{
    const char *line;
    size_t length;
    int result = next_line(audit, &line, &length, err);

    if (result <= 0)
        return result;
    free(audit->shown);
    /* SECURITY: somebody may have written it who is not us. */
    audit->shown = text_escape_new(line, length, TEXT_ONE_LINE);
    if (!audit->shown)
        return error_memory(err);
    *ret_record = audit->shown;
    return 1;
}

int bawn_audit_tail(struct bawn_audit *audit, uint64_t records, struct bawn_error *err)
{
    uint64_t lines = 0, skipped = 0, end = 0;
    const char *line;
    size_t length;
    int result;

    rewind_to(audit, 0);
    while ((result = next_line(audit, &line, &length, err)) > 0)
        lines++;
    rewind_to(audit, 0);
    while (result == 0 && skipped + records < lines &&
           (result = next_line(audit, &line, &length, err)) > 0) {
        end += length + 1;
        skipped++;
        result = 0;
    }
    rewind_to(audit, end);
    return result < 0 ? result : 0;
}

int bawn_audit_wait(struct bawn_audit *audit, struct bawn_error *err)
{
    struct pollfd changed = {.events = POLLIN};
    char events[4096];
    char path[48];

    if (audit->is_over)
        return 0;
    if (audit->watch_fd < 0) {
        audit->watch_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", audit->fd);
        if (audit->watch_fd < 0 || inotify_add_watch(audit->watch_fd, path, IN_MODIFY) < 0)
            return error_errno(err, errno, "%s: watch the audit trail", audit->id);
        /* What was written before it was watched is not told of. */
        audit->is_over = !ledger_is_alive(audit->fd);
        return 1;
    }
    changed.fd = audit->watch_fd;
    while (poll(&changed, 1, LOOK_MS) == 0 && ledger_is_alive(audit->fd))
        ;
    while (read(audit->watch_fd, events, sizeof(events)) > 0)
        ;
    audit->is_over = !ledger_is_alive(audit->fd);
    return 1;
}

__attribute__((format(printf, 4, 5))) static void prove(struct bawn_audit *audit,
                                                        struct bawn_audit_proof *proof,
                                                        const char *fault, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(audit->words, sizeof(audit->words), format, args);
    va_end(args);
    proof->words = audit->words;
    proof->fault = fault;
    proof->is_whole = !fault;
}

/* Whether a record of that number comes later. */
static bool comes_later(struct bawn_audit *audit, uint64_t number)
{
    const char *line;
    size_t length;

    while (next_line(audit, &line, &length, NULL) > 0) {
        struct chain ignored = {0}, after;
        uint64_t found;

        (void)chain_check(&ignored, line, length, &found, &after);
        if (found == number)
            return true;
    }
    return false;
}

static void blame(struct bawn_audit *audit, enum chain_fault fault, uint64_t wanted, uint64_t found,
                  struct bawn_audit_proof *proof)
{
    unsigned long long number = wanted;

    proof->record = wanted;
    if (fault == CHAIN_FORM)
        prove(audit, proof, "form", "record %llu is no record", number);
    else if (fault == CHAIN_EDITED)
        prove(audit, proof, "edited", "record %llu was changed", number);
    else if (fault == CHAIN_PREV)
        prove(audit, proof, "edited",
              "record %llu does not follow the one before, which was changed", number);
    else if (found < wanted || comes_later(audit, wanted))
        prove(audit, proof, "reordered", "where record %llu belongs there is record %llu", number,
              (unsigned long long)found);
    else
        prove(audit, proof, "removed", "record %llu was removed: there is record %llu", number,
              (unsigned long long)found);
}

/* Whether the record is the last that a session writes. */
static bool is_end(const char *line, size_t length)
{
    static const char end[] = "\"event\": \"end\"";

    return memmem(line, length < 128 ? length : 128, end, strlen(end)) != NULL;
}

/* What the head says of a chain that is unbroken. ended: the number of its record "end", or 0. */
static void compare(struct bawn_audit *audit, const struct chain *head, const char *hash_at_head,
                    uint64_t ended, struct bawn_audit_proof *proof)
{
    if (head->count > proof->records) {
        proof->record = proof->records + 1;
        prove(audit, proof, "cut", "%llu records were cut off at the end: the head knows %llu",
              (unsigned long long)(head->count - proof->records), (unsigned long long)head->count);
    } else if (strcmp(head->hash, hash_at_head) != 0) {
        proof->record = head->count;
        prove(audit, proof, "head", "the head has another hash than record %llu",
              (unsigned long long)head->count);
    } else if (ended && ended < proof->records) {
        proof->record = ended + 1;
        prove(audit, proof, "added", "records were added behind the end");
    } else if (head->count < proof->records && ended) {
        proof->record = head->count + 1;
        prove(audit, proof, "added", "records were added: the head knows %llu",
              (unsigned long long)head->count);
    } else if (head->count < proof->records && !ledger_is_alive(audit->fd)) {
        prove(audit, proof, NULL, "the head knows %llu of them: bawn was killed before it told it",
              (unsigned long long)head->count);
    } else if (!ended && !ledger_is_alive(audit->fd)) {
        prove(audit, proof, NULL, "the end is missing: bawn was killed");
    }
}

int bawn_audit_verify(struct bawn_audit *audit, struct bawn_audit_proof *ret_proof,
                      struct bawn_error *err)
{
    struct chain chain, after, head;
    /* Before the records: those that come meanwhile are more than it knows, which is no fault. */
    bool has_head = read_head(audit, &head);
    char hash_at_head[CHAIN_HEX + 1];
    uint64_t ended = 0, number;
    const char *line;
    size_t length;
    int result;

    *ret_proof = (struct bawn_audit_proof){.is_whole = true};
    chain_init(&chain);
    memcpy(hash_at_head, chain.hash, sizeof(hash_at_head));
    rewind_to(audit, 0);
    while ((result = next_line(audit, &line, &length, err)) > 0) {
        enum chain_fault fault = chain_check(&chain, line, length, &number, &after);

        if (fault != CHAIN_FINE) {
            blame(audit, fault, chain.count + 1, number, ret_proof);
            return 0;
        }
        chain = after;
        ret_proof->records++;
        if (has_head && chain.count == head.count)
            memcpy(hash_at_head, chain.hash, sizeof(hash_at_head));
        if (!ended && is_end(line, length))
            ended = chain.count;
    }
    if (result < 0)
        return result;
    if (audit->block.length > audit->used && !ledger_is_alive(audit->fd)) {
        ret_proof->record = chain.count + 1;
        prove(audit, ret_proof, "cut", "record %llu is cut off in the middle",
              (unsigned long long)chain.count + 1);
    } else if (!has_head) {
        prove(audit, ret_proof, "head",
              audit->head_fd < 0 ? "its head is missing" : "its head is none that bawn wrote");
    } else {
        compare(audit, &head, hash_at_head, ended, ret_proof);
    }
    return 0;
}

/* The caller gets a pointer to the first member, which is also one to the whole. */
struct trail {
    struct bawn_trail shown;
    char id[LEDGER_ID_BYTES];
    char started[48];
    char command[COMMAND_BYTES];
};

void bawn_trail_free(struct bawn_trail *list)
{
    while (list) {
        struct bawn_trail *next = list->next;

        free(list);
        list = next;
    }
}

static void put_command(struct trail *trail, const char *array)
{
    autostrbuf struct strbuf line = {0};
    struct json_member word;

    array++;
    while (json_next_item(&array, &word)) {
        strbuf_add(&line, line.length ? " " : "");
        json_add_word(&line, word.value, word.value_length);
    }
    if (line.text)
        text_escape(trail->command, sizeof(trail->command), line.text, line.length, TEXT_ONE_LINE);
}

static void read_start(struct trail *trail, const char *record)
{
    struct json_member member;

    record += *record == '{';
    while (json_next(&record, &member)) {
        if (json_is(&member, "time") && member.value_length < sizeof(trail->started) &&
            *member.value == '"')
            text_escape(trail->started, sizeof(trail->started), member.value + 1,
                        member.value_length - 2, TEXT_ONE_LINE);
        if (json_is(&member, "argv") && *member.value == '[')
            put_command(trail, member.value);
    }
}

/* The status in the last record, where that is the end. */
static bool read_end(int fd, int *ret_status)
{
    autofree char *bytes = malloc(LAST_BYTES + 1);
    struct stat status;
    off_t from;
    ssize_t got;
    char *line;
    const char *at;
    struct json_member member;
    uint64_t number = 0;
    char digits[8] = "";

    if (!bytes || fstat(fd, &status) < 0)
        return false;
    from = status.st_size > LAST_BYTES ? status.st_size - LAST_BYTES : 0;
    got = pread(fd, bytes, LAST_BYTES, from);
    if (got < 2 || bytes[got - 1] != '\n')
        return false;
    bytes[got - 1] = '\0';
    line = memrchr(bytes, '\n', (size_t)got - 1);
    at = line ? line + 1 : bytes;
    if (!is_end(at, strlen(at)) || *at++ != '{')
        return false;
    while (json_next(&at, &member)) {
        if (json_is(&member, "status") && member.value_length < sizeof(digits))
            memcpy(digits, member.value, member.value_length);
    }
    *ret_status = text_parse_count(digits, 255, &number) ? (int)number : 0;
    return true;
}

static struct trail *look_at(const struct ledger_place *place, const char *id)
{
    struct trail *trail = calloc(1, sizeof(*trail));
    int head_fd = -EBADF;
    autoclose int fd = ledger_open(place, id, O_RDONLY, &head_fd);
    struct bawn_audit first = {.fd = fd};
    const char *line = "";
    size_t length = 0;

    if (head_fd >= 0)
        (void)close(head_fd);
    if (!trail)
        return NULL;
    (void)snprintf(trail->id, sizeof(trail->id), "%s", id);
    trail->shown = (struct bawn_trail){
        .id = trail->id, .state = "lost", .started = trail->started, .command = trail->command};
    if (fd < 0)
        return trail;
    if (next_line(&first, &line, &length, NULL) > 0) {
        autofree char *record = strndup(line, length);

        if (record)
            read_start(trail, record);
    }
    strbuf_done(&first.block);
    if (read_end(fd, &trail->shown.status))
        trail->shown.state = "ended";
    else if (ledger_is_alive(fd))
        trail->shown.state = "running";
    return trail;
}

static int list_trails(const struct ledger_place *place, const struct ledger_ids *ids,
                       struct bawn_trail **ret_list, struct bawn_error *err)
{
    struct bawn_trail **end = ret_list;
    int count = 0;

    vec_each (&ids->items, id) {
        struct trail *trail = look_at(place, *id);

        if (!trail) {
            bawn_trail_free(*ret_list);
            *ret_list = NULL;
            return error_memory(err);
        }
        *end = &trail->shown;
        end = &trail->shown.next;
        count++;
    }
    return count;
}

int bawn_trail_list(struct bawn_trail **ret_list, struct bawn_error *err)
{
    autoledgerplace struct ledger_place place = LEDGER_NOWHERE;
    autoledgerids struct ledger_ids ids = {0};
    int result = ledger_open_place(&place, false, err);

    *ret_list = NULL;
    if (result == -ENOENT)
        return 0;
    if (result == 0) {
        ledger_sweep(&place);
        result = ledger_list(&place, &ids, err);
    }
    return result < 0 ? result : list_trails(&place, &ids, ret_list, err);
}

int bawn_trail_list_removed(struct bawn_trail **ret_list, struct bawn_error *err)
{
    autoledgerplace struct ledger_place place = LEDGER_NOWHERE;
    autoledgerids struct ledger_ids heads = {0};
    struct ledger_ids removed = {0};
    int result = ledger_open_place(&place, false, err);

    *ret_list = NULL;
    if (result == -ENOENT)
        return 0;
    if (result == 0)
        result = ledger_list_heads(&place, &heads, err);
    vec_each (&heads.items, id) {
        int head_fd = -EBADF;
        int fd = ledger_open(&place, *id, O_RDONLY, &head_fd);

        if (fd >= 0)
            (void)close(fd);
        if (head_fd >= 0)
            (void)close(head_fd);
        if (result == 0 && fd == -ENOENT && !vec_push(&removed.items, *id))
            result = error_memory(err);
    }
    if (result == 0)
        result = list_trails(&place, &removed, ret_list, err);
    vec_done(&removed.items);
    return result;
}
