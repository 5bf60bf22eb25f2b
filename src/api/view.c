/* SPDX-License-Identifier: Apache-2.0 */
#include "api/view.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/environ.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mounts.h"
#include "base/path.h"
#include "base/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/*
 * How it works: before a name is looked at, the directory that it is in is. So
 * the time of the directory's last change is older than the look: while it
 * stays the same, all names in it lead to what they led to. A name in a
 * directory that is absent needs no look, nor a note: it is absent with it.
 */
enum {
    /* Directories that were listed; the launcher looks at each. */
    LISTED_MAX = 512,
    /* What is looked at for the built-in lists alone. */
    VIEW_NAMES = 2000,
};

/* Scopes of the map. */
enum { SEEN_LOOK, SEEN_OTHER, SEEN_MOUNTS };

struct view_note {
    struct compile_dep dep;
    enum look look;
    struct view_note *parent; /* the directory that vouches for the name; or NULL */
    bool vouches;             /* for others: it is looked at in any case */
    bool is_exact;            /* it counts what it is, and not only that it is no link */
};

static struct view_note *new_note(struct view *view, unsigned scope, const char *path)
{
    struct view_note *note = arena_new(&view->arena, struct view_note);
    const char *kept = arena_strdup(&view->arena, path);

    if (!note || !kept || !map_put(&view->seen, scope, kept, strlen(kept), note) ||
        !vec_push(&view->notes, note)) {
        view->failed = true;
        return NULL;
    }
    note->dep.path = kept;
    return note;
}

static void fill_note(struct view_note *note, enum image_dep_kind kind, const struct stat *status)
{
    note->dep.dep = (struct image_dep){.kind = (uint8_t)kind,
                                       .mode = status->st_mode,
                                       .uid = status->st_uid,
                                       .dev = status->st_dev,
                                       .ino = status->st_ino,
                                       .ctime_ns = image_time_ns(status->st_ctim)};
}

static enum look look_plainly(const char *path, struct stat *status, char *target,
                              size_t target_size)
{
    ssize_t length;

    if (lstat(path, status) < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG ? LOOK_ABSENT
                                                                            : LOOK_UNKNOWN;
    if (S_ISDIR(status->st_mode))
        return LOOK_DIRECTORY;
    if (!S_ISLNK(status->st_mode))
        return LOOK_OTHER;
    length = readlink(path, target, target_size - 1);
    if (length < 0)
        return LOOK_UNKNOWN;
    target[length] = '\0';
    return LOOK_LINK;
}

static enum look look_passing(void *context, const char *path, char *target, size_t target_size)
{
    struct stat status;

    (void)context;
    return look_plainly(path, &status, target, target_size);
}

const struct looker view_passing = {.look = look_passing};

/* The kernel's own trees are as the kernel is, whose release is in the plan. */
static bool is_kernels(const char *path)
{
    return path_is_below(path, "/proc") || path_is_below(path, "/sys");
}

/* SECURITY: whether the time of a directory's last change is somebody else's word: of another
 * machine, of a program, or of a file system that keeps another time under that name. */
static bool is_remote(const char *path)
{
    static const unsigned long types[] = {
        FUSE_SUPER_MAGIC,  NFS_SUPER_MAGIC,         SMB_SUPER_MAGIC,
        SMB2_SUPER_MAGIC,  CIFS_SUPER_MAGIC,        V9FS_MAGIC,
        CODA_SUPER_MAGIC,  AFS_SUPER_MAGIC,         AFS_FS_MAGIC,
        CEPH_SUPER_MAGIC,  0x786f4256 /* vboxsf */, MSDOS_SUPER_MAGIC,
        EXFAT_SUPER_MAGIC, 0x47504653 /* GPFS */,   0x0bd00bd0 /* Lustre */,
    };
    struct statfs status;

    if (statfs(path, &status) < 0)
        return true;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if ((unsigned long)status.f_type == types[i])
            return true;
    }
    return false;
}

static struct view_note *note_look(struct view *view, const char *path);

static struct view_note *note_parent(struct view *view, const char *path)
{
    scratch char dir[LIMIT_PATH_BYTES];

    if (strcmp(path, "/") == 0 || strlen(path) >= sizeof(dir))
        return NULL;
    (void)stpcpy(dir, path);
    path_cut_name(dir);
    return note_look(view, dir);
}

/* NULL: out of memory. */
static struct view_note *note_look(struct view *view, const char *path)
{
    struct view_note *note = map_get(&view->seen, SEEN_LOOK, path, strlen(path));
    struct view_note *parent;
    scratch char target[LIMIT_PATH_BYTES];
    struct stat status = {0};
    int errnum;

    if (note)
        return note;
    parent = note_parent(view, path);
    if (!parent && strcmp(path, "/") != 0 && view->failed)
        return NULL;
    note = new_note(view, SEEN_LOOK, path);
    if (!note)
        return NULL;
    if (parent && (parent->look == LOOK_ABSENT || parent->look == LOOK_OTHER)) {
        parent->is_exact = true;
        note->look = LOOK_ABSENT;
        note->dep.dep.kind = DEP_NONE;
        return note;
    }
    note->look = look_plainly(path, &status, target, sizeof(target));
    errnum = errno;
    fill_note(note, note->look == LOOK_ABSENT ? DEP_ABSENT : DEP_ENTRY, &status);
    if (note->look == LOOK_UNKNOWN)
        note->dep.dep = (struct image_dep){.kind = DEP_CLOSED, .mode = (uint32_t)errnum};
    if (note->look == LOOK_LINK) {
        note->dep.text = arena_strdup(&view->arena, target);
        view->failed |= !note->dep.text;
    }
    if (note->look == LOOK_DIRECTORY) {
        note->dep.dep.is_remote = is_remote(path);
        if (!image_is_settled(note->dep.dep.ctime_ns, clock_wall()))
            note->dep.dep.ctime_ns = -1;
    }
    if (parent && parent->look == LOOK_DIRECTORY && note->look != LOOK_UNKNOWN) {
        note->parent = parent;
        parent->vouches = true;
    }
    return note;
}

static enum look look_noting(struct view *view, bool is_exact, const char *path, char *target,
                             size_t target_size)
{
    struct view_note *note;

    if (is_kernels(path))
        return look_passing(NULL, path, target, target_size);
    if (*path != '/') {
        view->is_moving = true;
        return look_passing(NULL, path, target, target_size);
    }
    note = note_look(view, path);
    if (!note || (note->look == LOOK_LINK && !note->dep.text))
        return LOOK_UNKNOWN;
    note->is_exact |= is_exact;
    if (note->look == LOOK_LINK)
        (void)snprintf(target, target_size, "%s", note->dep.text);
    return note->look;
}

static enum look look_and_note(void *context, const char *path, char *target, size_t target_size)
{
    return look_noting(context, true, path, target, target_size);
}

static enum look look_for_link(void *context, const char *path, char *target, size_t target_size)
{
    return look_noting(context, false, path, target, target_size);
}

enum look view_look(struct view *view, const char *path)
{
    scratch char target[LIMIT_PATH_BYTES];

    return look_and_note(view, path, target, sizeof(target));
}

bool view_knows_absent(const struct view *view, const char *path)
{
    const struct view_note *note = map_get(&view->seen, SEEN_LOOK, path, strlen(path));

    return note && note->look == LOOK_ABSENT;
}

struct view *view_new(char *const *variables)
{
    struct view *view = calloc(1, sizeof(*view));

    if (view) {
        (void)map_reserve(&view->seen, VIEW_NAMES);
        view->looker = (struct looker){.look = look_and_note, .context = view};
        view->links =
            (struct looker){.look = look_for_link, .closer = &view->looker, .context = view};
        view->environ = variables;
    }
    return view;
}

void view_free(struct view *view)
{
    if (!view)
        return;
    vec_done(&view->notes);
    map_done(&view->seen);
    free(view->mounts);
    arena_done(&view->arena);
    free(view);
}

const char *view_variable(struct view *view, const char *name)
{
    const char *value = environ_get(view->environ, name);
    struct view_note *note;

    if (map_get(&view->seen, SEEN_OTHER, name, strlen(name)))
        return value;
    note = new_note(view, SEEN_OTHER, name);
    if (!note)
        return value;
    note->dep.dep.kind = value ? DEP_ENV : DEP_NO_ENV;
    note->dep.text = value ? arena_strdup(&view->arena, value) : NULL;
    view->failed |= value && !note->dep.text;
    return value;
}

/* By the directories above it: their owner and mode are those of a note that others stand behind,
 * which the launcher looks at in any case. */
bool view_is_steady(struct view *view, const char *path)
{
    const struct view_note *note;

    if (path_is_below(path, "/sys"))
        return true; /* nobody makes or moves anything there but the kernel */
    note = is_kernels(path) ? NULL : note_look(view, path);
    if (!note || note->look == LOOK_LINK || note->look == LOOK_UNKNOWN)
        return false;
    if (strcmp(path, "/") == 0)
        return true;
    for (note = note->parent; note; note = note->parent) {
        if (note->look != LOOK_DIRECTORY || note->dep.dep.uid != 0 || (note->dep.dep.mode & 022))
            return false;
        if (strcmp(note->dep.path, "/") == 0)
            return true;
    }
    return false;
}

bool view_stat(struct view *view, const char *path, struct stat *ret_status)
{
    struct view_note *note;

    if (view_look(view, path) == LOOK_ABSENT || lstat(path, ret_status) < 0)
        return false;
    if (map_get(&view->seen, SEEN_OTHER, path, strlen(path)))
        return true;
    note = new_note(view, SEEN_OTHER, path);
    if (note)
        fill_note(note, DEP_MODE, ret_status);
    return true;
}

/* SECURITY: to one user by the time of its last change: an access list may change neither mode nor
 * owner. */
bool view_is_closed(struct view *view, const char *path, bool to_all)
{
    struct view_note *note = NULL;
    struct stat status;
    bool is_closed;

    if (lstat(path, &status) < 0 || status.st_uid != 0 || S_ISLNK(status.st_mode))
        return false;
    is_closed = to_all ? !(status.st_mode & 07)
                       : getuid() != 0 && access(path, R_OK) < 0 && access(path, W_OK) < 0 &&
                             access(path, X_OK) < 0;
    /* One that is not needs no note: it is masked, and stays so. */
    if (is_closed &&
        (is_kernels(path) || image_is_settled(image_time_ns(status.st_ctim), clock_wall())))
        note = new_note(view, SEEN_OTHER, path);
    if (note)
        fill_note(note, is_kernels(path) || to_all ? DEP_MODE : DEP_FILE, &status);
    return note != NULL;
}

/* Notes a file before it is read: who changes it from now on changes its time, if that is not new.
 */
int view_note_file(struct view *view, const char *path)
{
    struct stat status;
    struct view_note *note;
    int r;

    if (stat(path, &status) < 0) {
        r = -errno;
        (void)view_look(view, path);
        view->is_moving |= r != -ENOENT && r != -ENOTDIR;
        return r;
    }
    note = new_note(view, SEEN_OTHER, path);
    if (!note)
        return -ENOMEM;
    fill_note(note, DEP_FILE, &status);
    view->is_moving |= !image_is_settled(note->dep.dep.ctime_ns, clock_wall());
    return 0;
}

int view_read(struct view *view, const char *path, size_t limit, char **ret_data,
              size_t *ret_length, struct bawn_error *err)
{
    char absolute[2 * LIMIT_PATH_BYTES];
    char cwd[LIMIT_PATH_BYTES];
    int r;

    if (*path != '/' && view_cwd(cwd) &&
        (size_t)snprintf(absolute, sizeof(absolute), "%s/%s", cwd, path) < sizeof(absolute))
        path = absolute;
    r = view_note_file(view, path);
    if (r < 0)
        return r == -ENOMEM ? error_memory(err) : error_errno(err, -r, "open %s", path);
    r = file_read(AT_FDCWD, path, limit, ret_data, ret_length, err);
    view->is_moving |= r < 0;
    return r;
}

DIR *view_open_dir(struct view *view, int parent_fd, const char *name, const char *path)
{
    autoclose int fd =
        openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    struct view_note *note = NULL;
    struct stat status;
    DIR *dir;

    /* What could not be listed is told by no time of change. */
    view->is_moving |= fd < 0;
    if (fd < 0 || fstat(fd, &status) < 0)
        return NULL;
    if (++view->listed <= LISTED_MAX)
        note = new_note(view, SEEN_OTHER, path);
    if (note) {
        fill_note(note, DEP_DIR, &status);
        view->is_moving |= !image_is_settled(note->dep.dep.ctime_ns, clock_wall());
    }
    dir = fdopendir(fd);
    if (dir)
        (void)take_fd(&fd);
    return dir;
}

const char *view_mounts(struct view *view, const char *path)
{
    struct view_note *note;
    autostrbuf struct strbuf text = {0};

    if (!view->mounts && mounts_read(AT_FDCWD, MOUNTS_PATH, &view->mounts, NULL) < 0) {
        view->is_moving = true;
        return "";
    }
    if (map_get(&view->seen, SEEN_MOUNTS, path, strlen(path)))
        return view->mounts;
    mounts_add_below(&text, view->mounts, path);
    note = new_note(view, SEEN_MOUNTS, path);
    if (!note)
        return view->mounts;
    note->dep.dep.kind = DEP_MOUNTS;
    note->dep.text = text.failed ? NULL : arena_strdup(&view->arena, text.text ? text.text : "");
    view->failed |= !note->dep.text;
    return view->mounts;
}

bool view_glance(int dir_fd, const char *name, struct stat *ret_status)
{
    return fstatat(dir_fd, name, ret_status, AT_SYMLINK_NOFOLLOW) == 0;
}

DIR *view_glance_dir(int parent_fd, const char *name)
{
    int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

    if (!dir)
        cleanup_close(&fd);
    return dir;
}

bool view_cwd(char ret_path[LIMIT_PATH_BYTES])
{
    return getcwd(ret_path, LIMIT_PATH_BYTES) != NULL;
}

bool view_is_root(void)
{
    return geteuid() == 0;
}

int view_workspace(struct view *view, const char *name, char **ret_path)
{
    /* The launcher resolves the name anew each time: what it leads to is in the key. */
    autofree char *path = realpath(name, NULL);
    struct stat status;

    if (!path || stat(path, &status) < 0)
        return -errno;
    if (!S_ISDIR(status.st_mode))
        return -ENOTDIR;
    if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0)
        return -errno;
    (void)view_look(view, path);
    *ret_path = take_ptr(&path);
    return 0;
}

/* Users whom other sources name have no plans kept: see passwd_home. */
static void note_passwd(struct view *view)
{
    const char *path = "/etc/passwd";
    struct view_note *note;
    struct stat status;

    if (map_get(&view->seen, SEEN_OTHER, path, strlen(path)))
        return;
    if (stat(path, &status) < 0 || !(note = new_note(view, SEEN_OTHER, path))) {
        view->is_moving = true;
        return;
    }
    fill_note(note, DEP_FILE, &status);
    view->is_moving |= !image_is_settled(note->dep.dep.ctime_ns, clock_wall());
}

const char *view_user_name(struct view *view, uid_t uid)
{
    const struct passwd *entry;

    note_passwd(view);
    entry = getpwuid(uid);
    return entry ? entry->pw_name : NULL;
}

bool view_usual_home(struct view *view, char ret_home[LIMIT_PATH_BYTES])
{
    char buffer[4096];
    struct passwd entry;
    struct passwd *found = NULL;

    if (!view->home) {
        note_passwd(view);
        (void)getpwuid_r(getuid(), &entry, buffer, sizeof(buffer), &found);
        if (!found || *found->pw_dir != '/' || strcmp(found->pw_dir, "/") == 0 ||
            resolve_path(NULL, "/", found->pw_dir, &view->links, ret_home, NULL) < 0)
            *ret_home = '\0';
        view->home = arena_strdup(&view->arena, ret_home);
        view->failed |= !view->home;
    }
    (void)snprintf(ret_home, LIMIT_PATH_BYTES, "%s", view->home ? view->home : "");
    return *ret_home != '\0';
}

void view_self(struct view *view)
{
    char self[LIMIT_PATH_BYTES];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    struct view_note *note;
    struct stat status;

    if (length > 0)
        self[length] = '\0';
    if (length <= 0 || lstat(self, &status) < 0 || !(note = new_note(view, SEEN_OTHER, self))) {
        view->is_moving = true;
        return;
    }
    fill_note(note, DEP_FILE, &status);
}

/* Those that nobody vouches for first, then each directory's together. */
static int compare_notes(const void *left, const void *right)
{
    const struct view_note *a = *(const struct view_note *const *)left;
    const struct view_note *b = *(const struct view_note *const *)right;
    int order = !a->parent || !b->parent ? (a->parent != NULL) - (b->parent != NULL)
                                         : strcmp(a->parent->dep.path, b->parent->dep.path);

    if (order == 0)
        order = strcmp(a->dep.path, b->dep.path);
    return order ? order : (int)a->dep.dep.kind - (int)b->dep.dep.kind;
}

static bool is_same(const struct compile_dep *a, const struct compile_dep *b)
{
    return a->dep.kind == b->dep.kind && strcmp(a->path, b->path) == 0;
}

/* Views that do not agree saw something change. */
static bool agrees(const struct compile_dep *a, const struct compile_dep *b)
{
    return a->dep.kind == DEP_NO_LINK ||
           (((a->dep.mode ^ b->dep.mode) & S_IFMT) == 0 &&
            (a->text == b->text || (a->text && b->text && strcmp(a->text, b->text) == 0)));
}

/* A directory that changed between two looks vouches for neither. */
static void join_gates(struct image_dep *gate, const struct image_dep *other)
{
    if (gate->dev != other->dev || gate->ino != other->ino || gate->ctime_ns != other->ctime_ns)
        gate->ctime_ns = -1;
}

/* The notes of one directory, from first to last: the directory, and what it vouches for. */
static bool add_group(struct compile_deps *deps, struct view_note **first, struct view_note **last)
{
    enum { BEHIND_MAX = UINT16_MAX };
    const struct compile_dep *seen = NULL;
    size_t at = SIZE_MAX;

    for (struct view_note **note = first; note < last; note++) {
        const struct compile_dep *dep = &(*note)->dep;
        bool is_known = seen && is_same(seen, dep);

        if (is_known)
            deps->is_once |= !agrees(seen, dep);
        seen = dep;
        if ((*note)->parent) {
            struct compile_dep gate = (*note)->parent->dep;

            gate.dep.kind = DEP_GATE;
            if (at == SIZE_MAX || deps->items.items[at].dep.behind == BEHIND_MAX) {
                at = deps->items.count;
                if (!vec_push(&deps->items, gate))
                    return false;
            }
            deps->is_once |= deps->items.items[at].dep.mode != gate.dep.mode ||
                             deps->items.items[at].dep.uid != gate.dep.uid;
            join_gates(&deps->items.items[at].dep, &gate.dep);
        }
        if (is_known || (*note)->vouches)
            continue;
        if (!vec_push(&deps->items, *dep))
            return false;
        if ((*note)->parent)
            deps->items.items[at].dep.behind++;
    }
    return true;
}

static bool is_together(const struct view_note *a, const struct view_note *b)
{
    if (!a->parent || !b->parent)
        return !a->parent && !b->parent;
    return strcmp(a->parent->dep.path, b->parent->dep.path) == 0;
}

void view_finish(struct view *view)
{
    vec_each (&view->notes, note) {
        struct image_dep *dep = &(*note)->dep.dep;

        if (dep->kind != DEP_ABSENT && dep->kind != DEP_ENTRY && dep->kind != DEP_NO_LINK)
            continue;
        if (!(*note)->is_exact && (*note)->look != LOOK_LINK)
            dep->kind = DEP_NO_LINK;
        else
            dep->kind = (*note)->look == LOOK_ABSENT ? DEP_ABSENT : DEP_ENTRY;
    }
}

int view_collect(struct view *const *views, size_t count, struct compile_deps *deps,
                 struct bawn_error *err)
{
    VEC(struct view_note *) all = {0};
    bool failed = false;

    for (size_t i = 0; i < count; i++) {
        deps->is_once |= views[i]->is_moving || views[i]->listed > LISTED_MAX;
        failed |= views[i]->failed;
        vec_each (&views[i]->notes, note) {
            if ((*note)->dep.dep.kind != DEP_NONE)
                failed |= !vec_push(&all, *note);
        }
    }
    if (all.count)
        qsort(all.items, all.count, sizeof(*all.items), compare_notes);
    for (size_t first = 0, next; !failed && first < all.count; first = next) {
        for (next = first + 1; next < all.count && is_together(all.items[first], all.items[next]);
             next++)
            ;
        failed = !add_group(deps, all.items + first, all.items + next);
    }
    vec_done(&all);
    return failed ? error_memory(err) : 0;
}
