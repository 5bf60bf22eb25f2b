/* SPDX-License-Identifier: Apache-2.0 */
#include "api/store.h"

#include "api/outer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/places.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static int join(char out[LIMIT_PATH_BYTES], const char *dir, const char *rest,
                struct bawn_error *err)
{
    if (snprintf(out, LIMIT_PATH_BYTES, "%s/%s", strcmp(dir, "/") ? dir : "", rest) <
        LIMIT_PATH_BYTES)
        return 0;
    return error_set(err, ENAMETOOLONG, "path.too_long", "%s: path too long", dir);
}

/* The project's directory: where loading finds it, else the workspace. */
static int find_project(struct store *store, struct view *view, const char *workspace,
                        struct bawn_error *err)
{
    char home[LIMIT_PATH_BYTES];
    int r = load_home(view, home, err);

    if (r < 0)
        return r;
    if (!load_find_project(view, workspace, home, ".bawn", store->base))
        (void)snprintf(store->base, sizeof(store->base), "%s", workspace);
    store->name = store->scope == BAWN_SCOPE_LOCAL ? "local.yaml" : PLACES_POLICY;
    r = join(store->folder, store->base, ".bawn", err);
    return r < 0 ? r : join(store->path, store->folder, store->name, err);
}

static int find_user(struct store *store, struct view *view, const char *workspace,
                     struct bawn_error *err)
{
    struct config_places places;
    char folder[LIMIT_PATH_BYTES];
    int r = load_config_places(view, workspace, &places, err);

    if (r == 0 && !*places.user) {
        (void)error_set(err, ENOENT, "save.place",
                        "there is no place for your policy: %s lies in the project",
                        places.project);
        error_hint(err, "set HOME or XDG_CONFIG_HOME to a directory outside of it");
        return -ENOENT;
    }
    if (r == 0)
        r = join(folder, places.user, PLACES_CONFIG, err);
    if (r == 0)
        r = join(store->path, folder, PLACES_POLICY, err);
    return r < 0 ? r : resolve_path(NULL, "/", folder, &view->links, store->folder, err);
}

static int find_file(struct store *store, const struct bawn_load *load, struct bawn_error *err)
{
    autoview struct view *view = view_new(load->environ);
    autofree char *workspace = NULL;
    int r = view ? load_workspace(load, view, &workspace, err) : error_memory(err);

    if (r < 0)
        return r;
    (void)snprintf(store->base, sizeof(store->base), "%s", workspace);
    store->name = PLACES_POLICY;
    switch (store->scope) {
    case BAWN_SCOPE_USER:
        return find_user(store, view, workspace, err);
    case BAWN_SCOPE_PROJECT:
    case BAWN_SCOPE_LOCAL:
        return find_project(store, view, workspace, err);
    case BAWN_SCOPE_ORG:
        (void)snprintf(store->folder, sizeof(store->folder), "%s", load->org_dir);
        return join(store->path, store->folder, store->name, err);
    }
    return error_set(err, EINVAL, "save.scope", "there is no such scope");
}

/* What to do about a file that cannot be written. */
static int hint_refused(const struct store *store, int result, struct bawn_error *err)
{
    if (outer_is_there())
        error_hint(err, "a sandbox cannot change a policy: save the rule outside");
    else if (result == -ELOOP)
        error_hint(err, "bawn replaces no link: put the file itself there, or write the rule "
                        "where the link leads");
    else if (store->scope == BAWN_SCOPE_ORG)
        error_hint(err, "the org's policy is root's: sudo");
    return result;
}

/* The project's and the org's are for others to read, too. */
static bool is_shared(const struct store *store)
{
    return store->scope == BAWN_SCOPE_PROJECT || store->scope == BAWN_SCOPE_ORG;
}

static int open_folder(const struct store *store, bool writes, struct bawn_error *err)
{
    int fd;

    if (writes && store->scope == BAWN_SCOPE_USER)
        return places_open_config(store->folder, err);
    if (writes && mkdir(store->folder, 0755) < 0 && errno != EEXIST)
        return error_errno(err, errno, "create directory %s", store->folder);
    fd = file_open_linkless(store->folder, O_RDONLY | O_DIRECTORY);
    return fd < 0 ? error_errno(err, -fd, "open %s", store->folder) : fd;
}

static int read_old(struct store *store, struct bawn_error *err)
{
    int r = store->fd < 0 ? -ENOENT
                          : file_read_itself(store->fd, store->name, LIMIT_CONFIG_BYTES,
                                             &store->text, &store->length, &store->status, err);

    store->exists = r == 0;
    if (r == -ELOOP)
        return error_set(err, ELOOP, "save.link", "%s is a symbolic link", store->path);
    if (r < 0 && r != -ENOENT)
        return r;
    if (!store->exists)
        store->text = strdup("");
    return store->text ? 0 : error_memory(err);
}

/* Whether it is a file that somebody who was killed left half written. */
static bool is_left(const struct store *store, const char *name)
{
    size_t length = strlen(store->name);

    return strncmp(name, store->name, length) == 0 && name[length] == '.' &&
           strspn(name + length + 1, "0123456789abcdef") == 16 && !name[length + 17];
}

/* The lock is ours: nobody else is about to write. */
static void remove_left(const struct store *store)
{
    int fd = openat(store->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    if (!dir) {
        if (fd >= 0)
            (void)close(fd);
        return;
    }
    while ((entry = readdir(dir)))
        if (is_left(store, entry->d_name))
            (void)unlinkat(store->fd, entry->d_name, 0);
    (void)closedir(dir);
}

int store_open(struct store *store, const struct bawn_load *load, enum bawn_scope scope,
               bool writes, struct bawn_error *err)
{
    int r;

    *store = (struct store){.scope = scope, .fd = -EBADF};
    r = find_file(store, load, err);
    if (r < 0)
        return r;
    store->fd = open_folder(store, writes, err);
    if (store->fd < 0 && (writes || store->fd != -ENOENT))
        return hint_refused(store, store->fd, err);
    if (writes)
        r = file_lock(store->fd, store->folder, err);
    if (r == 0 && writes)
        remove_left(store);
    if (r == 0)
        r = read_old(store, err);
    return r < 0 ? hint_refused(store, r, err) : 0;
}

void store_done(struct store *store)
{
    if (store->fd >= 0)
        (void)close(store->fd);
    free(store->text);
}

int store_write(struct store *store, const char *text, size_t length, struct bawn_error *err)
{
    int r = file_replace(store->fd, store->name, text, length, is_shared(store) ? 0644 : 0600,
                         store->exists ? &store->status : NULL, NULL);

    if (r == 0)
        return 0;
    (void)error_errno(err, -r, "write %s", store->path);
    if (r == -ENOSPC || r == -EDQUOT || r == -EFBIG)
        error_hint(err, "the file is as it was; make room, and try again");
    return hint_refused(store, r, err);
}
