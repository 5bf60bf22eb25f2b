/* SPDX-License-Identifier: Apache-2.0 */
#include "session/record.h"

#include "backend/backend.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "kernel/process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

void record_write(struct strbuf *out, const struct record_facts *facts)
{
    const struct image *image = facts->image;

    json_open(out, NULL, '{');
    json_put_string(out, "sid", facts->sid);
    json_put_uint(out, "pid", (uint64_t)getpid());
    json_put_uint(out, "start", process_start(getpid()));
    json_put_uint(out, "started", (uint64_t)time(NULL));
    json_open(out, "command", '[');
    for (char *const *arg = facts->argv; arg && *arg; arg++)
        json_put_string(out, NULL, *arg);
    json_close(out, ']');
    json_put_string(out, "workspace", image_string(image, image->workspace));
    json_put_bool(out, "detached", facts->is_detached);
    json_put_bool(out, "terminal", facts->has_terminal);
    json_put_string(out, "backend", backend_row(image->backend)->name);
    json_put_string(out, "enforcement", image_enforcement(image));
    json_open(out, "not_enforced", '[');
    image_each (image, PART_NOTES, uint32_t, note)
        json_put_string(out, NULL, image_string(image, *note));
    json_close(out, ']');
    /* No plan is carried out before a probe inside was contained. */
    json_put_string(out, "proven_on", image->release);
    json_open(out, "cgroups", '[');
    for (size_t i = 0; i < CGROUP_PATHS; i++) {
        if (facts->group->paths[i][0])
            json_put_string(out, NULL, facts->group->paths[i]);
    }
    json_close(out, ']');
    if (facts->changes)
        json_put_string(out, REGISTRY_CHANGES, facts->changes);
    json_put_string(out, "version", BAWN_VERSION);
    json_close(out, '}');
}

/*
 * A reader for what record_write writes: one object with strings, numbers,
 * words, and arrays of strings. Anything else is no record. SECURITY: what is
 * read is shown as it is.
 */
static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

static unsigned read_hex(const char *at)
{
    unsigned value = 0;

    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef";
        const char *digit = at[i] ? strchr(digits, at[i]) : NULL;

        if (!digit)
            return 0;
        value = value * 16 + (unsigned)(digit - digits);
    }
    return value;
}

/* Copies a string's characters; what does not fit is left out. Returns the end, or NULL. */
static const char *read_string(const char *at, char *out, size_t size)
{
    size_t length = 0;

    if (*at++ != '"')
        return NULL;
    while (*at != '"') {
        char letter = *at++;

        if ((unsigned char)letter < ' ')
            return NULL;
        if (letter == '\\' && *at == 'u') {
            /* Written only for characters that deceive: shown as they are not. */
            letter = read_hex(at + 1) < 128 ? (char)read_hex(at + 1) : '?';
            for (int i = 0; i < 5 && *at; i++)
                at++;
        } else if (letter == '\\') {
            letter = *at == 'n' ? '\n' : *at;
            at += *at != '\0';
        }
        if (length + 1 < size)
            out[length++] = letter;
    }
    if (size > 0)
        out[length] = '\0';
    return at + 1;
}

static void join_word(struct record *record, const char *word)
{
    size_t length = strlen(record->command);

    if (length + 2 >= sizeof(record->command))
        return;
    if (length > 0)
        record->command[length++] = ' ';
    text_escape(record->command + length, sizeof(record->command) - length, word, strlen(word),
                TEXT_ONE_LINE);
}

static void add_line(struct strbuf *lines, const char *text)
{
    if (lines->length > 0)
        strbuf_add(lines, "\n");
    strbuf_add_escaped(lines, text);
}

static const char *read_array(const char *at, const char *key, struct record *record)
{
    char item[LIMIT_PATH_BYTES];
    size_t count = 0;

    at = skip_space(at + 1);
    while (at && *at && *at != ']') {
        at = read_string(at, item, sizeof(item));
        if (!at)
            return NULL;
        if (strcmp(key, "command") == 0)
            join_word(record, item);
        else if (strcmp(key, "cgroups") == 0 && count < CGROUP_PATHS)
            (void)snprintf(record->cgroups[count++], CGROUP_PATH_BYTES, "%.500s", item);
        else if (strcmp(key, "not_enforced") == 0 && record->not_enforced)
            add_line(record->not_enforced, item);
        at = skip_space(at);
        if (*at != ',' && *at != ']')
            return NULL;
        at = skip_space(at + (*at == ','));
    }
    return at && *at == ']' ? at + 1 : NULL;
}

/* A word of ours, which is shown as it is. */
static const char *read_name(const char *at, char *out, size_t size)
{
    at = read_string(at, out, size);
    return at && out[strspn(out, letters)] == '\0' ? at : NULL;
}

static const char *read_text(const char *at, const char *key, struct record *record)
{
    if (strcmp(key, "sid") == 0)
        return read_string(at, record->sid, sizeof(record->sid));
    if (strcmp(key, "workspace") == 0)
        return read_string(at, record->workspace, sizeof(record->workspace));
    if (strcmp(key, "backend") == 0)
        return read_name(at, record->backend, sizeof(record->backend));
    if (strcmp(key, "enforcement") == 0)
        return read_name(at, record->enforcement, sizeof(record->enforcement));
    return read_string(at, NULL, 0);
}

static const char *read_word(const char *at, const char *key, struct record *record)
{
    size_t length = strspn(at, letters);
    char *end;
    uint64_t number = strtoull(at, &end, 10);
    bool is_true = length == 4 && strncmp(at, "true", 4) == 0;

    if (strcmp(key, "pid") == 0 && number <= INT32_MAX)
        record->pid = (pid_t)number;
    else if (strcmp(key, "start") == 0)
        record->start = number;
    else if (strcmp(key, "started") == 0)
        record->started = number;
    else if (strcmp(key, "detached") == 0)
        record->is_detached = is_true;
    else if (strcmp(key, "terminal") == 0)
        record->has_terminal = is_true;
    return length ? at + length : NULL;
}

bool record_read(const char *text, struct record *ret_record)
{
    const char *at = skip_space(text);
    char key[32];

    *ret_record = (struct record){.not_enforced = ret_record->not_enforced};
    if (*at++ != '{')
        return false;
    while (*(at = skip_space(at)) == '"') {
        at = read_string(at, key, sizeof(key));
        if (!at || *(at = skip_space(at)) != ':')
            return false;
        at = skip_space(at + 1);
        at = *at == '"'   ? read_text(at, key, ret_record)
             : *at == '[' ? read_array(at, key, ret_record)
                          : read_word(at, key, ret_record);
        if (!at)
            return false;
        at = skip_space(at);
        if (*at != ',' && *at != '}')
            return false;
        at += *at == ',';
    }
    return *at == '}' && *skip_space(at + 1) == '\0' && ret_record->pid > 0 &&
           ret_record->start > 0 && strlen(ret_record->sid) == SID_LENGTH &&
           registry_is_sid(ret_record->sid);
}

/* -EBADF: there is none. SECURITY: what is to be killed is read from files in it, which somebody
 * else could have written elsewhere. */
static int open_group(const char *path)
{
    autoclose int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct statfs status;

    if (fd < 0 || fstatfs(fd, &status) < 0 ||
        (status.f_type != CGROUP_SUPER_MAGIC && status.f_type != CGROUP2_SUPER_MAGIC))
        return -EBADF;
    return take_fd(&fd);
}

/* SECURITY: only groups that bear the launcher's own name are taken away. */
static void remove_groups(const struct record *record)
{
    struct cgroup group = {.inside = -EBADF};
    char name[CGROUP_NAME_BYTES + 1];

    (void)snprintf(name, sizeof(name), "/bawn-%d-%llu-", (int)record->pid,
                   (unsigned long long)record->start);
    for (size_t i = 0; i < CGROUP_PATHS; i++) {
        const char *path = record->cgroups[i];
        const char *last = strrchr(path, '/');

        group.fds[i] = last && strncmp(last, name, strlen(name)) == 0 ? open_group(path) : -EBADF;
        if (group.fds[i] >= 0)
            (void)snprintf(group.paths[i], sizeof(group.paths[i]), "%s", path);
    }
    (void)cgroup_remove(&group, NULL);
    cgroup_close(&group);
}

/* A launcher of another pid namespace seems to be gone: its socket tells. */
static bool is_alive(const struct registry *registry, const char *sid, const struct record *record)
{
    int sock;

    if (record->pid > 0 && process_start(record->pid) == record->start)
        return true;
    sock = registry_connect_sid(registry, sid);
    if (sock >= 0)
        (void)close(sock);
    return sock >= 0 || (sock != -ECONNREFUSED && sock != -ENOENT);
}

static int compare(const void *left, const void *right)
{
    const struct record *one = left;
    const struct record *other = right;

    if (one->start != other->start)
        return one->start < other->start ? -1 : 1;
    return strcmp(one->sid, other->sid);
}

void record_list_done(struct record_list *list)
{
    vec_each (&list->records, record)
        free(record->text);
    vec_done(&list->records);
}

static int read_one(const struct registry *registry, struct record_list *list, const char *sid,
                    struct bawn_error *err)
{
    autofree char *text = NULL;
    autofree struct record *record = calloc(1, sizeof(*record));
    bool is_record;

    if (!record)
        return error_memory(err);
    is_record = registry_read(registry, sid, &text, NULL) == 0 && record_read(text, record);
    if (is_record && is_alive(registry, sid, record)) {
        record->text = text;
        if (!vec_push(&list->records, *record))
            return error_memory(err);
        text = NULL;
        return 0;
    }
    if (is_record)
        remove_groups(record);
    if (is_record || !is_alive(registry, sid, record))
        registry_remove(registry, sid);
    return 0;
}

int record_list_read(const struct registry *registry, struct record_list *list,
                     struct bawn_error *err)
{
    autonames struct registry_names names = {0};
    int result = registry_list(registry, &names, err);

    vec_each (&names.sids, sid) {
        if (result == 0)
            result = read_one(registry, list, *sid, err);
    }
    if (list->records.count > 1)
        qsort(list->records.items, list->records.count, sizeof(*list->records.items), compare);
    return result;
}
