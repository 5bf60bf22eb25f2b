/* SPDX-License-Identifier: Apache-2.0 */
/* The record of project files that the user approved: one "SHA256  PATH" a line, as sha256sum
 * writes and checks them. */
#include "api/api.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/places.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <sha256.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void hash_text(const char *text, size_t length, char ret_hex[65])
{
    (void)SHA256Data((const uint8_t *)text, length, ret_hex);
}

int approvals_path(const struct config_places *places, char ret_path[LIMIT_PATH_BYTES],
                   struct bawn_error *err)
{
    *ret_path = '\0';
    if (!*places->user)
        return 0;
    if (snprintf(ret_path, LIMIT_PATH_BYTES, "%s/" PLACES_CONFIG "/" PLACES_APPROVED,
                 places->user) >= LIMIT_PATH_BYTES)
        return error_set(err, ENAMETOOLONG, "path.too_long", "%s: path too long", places->user);
    return 0;
}

bool approvals_has(const char *record, const char *file, const char *sha256)
{
    size_t length = strlen(file);

    while (record && *record) {
        size_t line = strcspn(record, "\n");

        if (line == 64 + 2 + length && strncmp(record, sha256, 64) == 0 &&
            strncmp(record + 66, file, length) == 0)
            return true;
        record += line + (record[line] == '\n');
    }
    return false;
}

/* The record without the lines on a file, and with the new one. */
static char *updated_record(const char *record, const char *file, const char *sha256)
{
    struct strbuf out = {0};
    size_t length = strlen(file);

    while (record && *record) {
        size_t line = strcspn(record, "\n");

        if (line != 66 + length || strncmp(record + 66, file, length) != 0) {
            strbuf_add_bytes(&out, record, line);
            strbuf_add(&out, "\n");
        }
        record += line + (record[line] == '\n');
    }
    strbuf_addf(&out, "%s  %s\n", sha256, file);
    return strbuf_take(&out);
}

int bawn_policy_project_file(const struct bawn_load *load, char **ret_path, struct bawn_error *err)
{
    autoview struct view *view = view_new(load->environ);
    autofree char *workspace = NULL;
    char home[LIMIT_PATH_BYTES];
    char dir[LIMIT_PATH_BYTES];
    int r = view ? load_workspace(load, view, &workspace, err) : error_memory(err);

    if (r == 0)
        r = load_home(view, home, err);
    if (r < 0)
        return r;
    if (!load_find_project(view, workspace, home, ".bawn", dir))
        (void)snprintf(dir, sizeof(dir), "%s", workspace);
    return asprintf(ret_path, "%s/.bawn/policy.yaml", dir) < 0 ? error_memory(err) : 0;
}

/* An approval is for one place: a link would carry it to wherever somebody points it. */
static int refuse_link(const char *path, struct bawn_error *err)
{
    autofree char *folder = strdup(path);
    const char *links[] = {path, folder};
    char *slash = folder ? strrchr(folder, '/') : NULL;
    struct stat st;

    if (!folder)
        return error_memory(err);
    if (slash && slash != folder)
        *slash = '\0';
    for (size_t i = 0; i < 2; i++) {
        if (lstat(links[i], &st) == 0 && S_ISLNK(st.st_mode)) {
            error_set(err, EINVAL, "approve.link", "approve %s: '%s' is a symbolic link", path,
                      links[i]);
            error_hint(err, "put the file itself there");
            return -EINVAL;
        }
    }
    return 0;
}

/* The directory that an approval is written to, without links: where the next start looks for it.
 */
static int find_folder(const struct bawn_load *load, char ret_folder[LIMIT_PATH_BYTES],
                       struct bawn_error *err)
{
    autoview struct view *view = view_new(load->environ);
    autofree char *workspace = NULL;
    struct config_places places;
    char store[LIMIT_PATH_BYTES] = "";
    int r = view ? load_workspace(load, view, &workspace, err) : error_memory(err);

    if (r == 0)
        r = load_config_places(view, workspace, &places, err);
    if (r == 0)
        r = approvals_path(&places, store, err);
    if (r < 0)
        return r;
    if (*store) {
        path_cut_name(store);
        return resolve_path(NULL, "/", store, &view->links, ret_folder, err);
    }
    (void)error_set(err, ENOENT, "approve.place",
                    "there is no place for approvals: %s lies in the project", places.project);
    error_hint(err, "set HOME or XDG_CONFIG_HOME to a directory outside of it");
    return -ENOENT;
}

/* Adds a line to the record, which is locked: of two approvals at once none is lost. The lock ends
 * with the descriptor. */
static int add_line(const char *folder, const char *file, const char *sha256,
                    struct bawn_error *err)
{
    autofree char *record = NULL;
    autofree char *updated = NULL;
    autoclose int fd = places_open_config(folder, err);
    size_t length;
    int r;

    if (fd < 0)
        return fd;
    r = file_lock(fd, folder, err);
    if (r < 0)
        return r;
    r = file_read(fd, PLACES_APPROVED, LIMIT_CONFIG_BYTES, &record, &length, NULL);
    if (r < 0 && r != -ENOENT)
        return error_errno(err, -r, "read %s/" PLACES_APPROVED, folder);
    updated = updated_record(record, file, sha256);
    r = updated ? file_write(fd, PLACES_APPROVED, updated, strlen(updated), NULL) : -ENOMEM;
    return r < 0 ? error_errno(err, -r, "write %s/" PLACES_APPROVED, folder) : 0;
}

int bawn_policy_approve(const struct bawn_load *load, const char *path, const char *text,
                        size_t length, char **ret_store, struct bawn_error *err)
{
    autofree char *file = realpath(path, NULL);
    char folder[LIMIT_PATH_BYTES];
    char sha256[65];
    int r;

    if (!file)
        return error_errno(err, errno, "resolve %s", path);
    r = refuse_link(path, err);
    if (r < 0)
        return r;
    if (strchr(file, '\n'))
        return error_set(err, EINVAL, "approve.name", "approve %s: a newline in its name", path);
    hash_text(text, length, sha256);
    r = find_folder(load, folder, err);
    if (r == 0)
        r = add_line(folder, file, sha256, err);
    if (r == 0 && ret_store && asprintf(ret_store, "%s/" PLACES_APPROVED, folder) < 0)
        r = error_memory(err);
    return r;
}
