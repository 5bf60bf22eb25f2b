/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiled plan: one flat block of bytes, mapped and used in place.
 *
 * How it works: a header with spans, each an array of fixed-size entries at an
 * offset from the start, and one block of strings. A string is named by its
 * offset in that block; 0 is "". The block ends with a NUL, so that every
 * offset in range is a string. image_check is the only reader that trusts
 * nothing; after it the accessors need no checks.
 */
#ifndef WIRE_IMAGE_H
#define WIRE_IMAGE_H

#include <bawn/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* What the set-up does, in order: first the skeleton, then the mounts. Targets are relative to the
 * new root ("usr", not "/usr"). */
enum image_step {
    STEP_DIR,       /* mkdir in the new root's own tmpfs; size is the mode */
    STEP_FILE,      /* an empty file to mount on */
    STEP_SYMLINK,   /* target -> source */
    STEP_TEXT,      /* a file of the sandbox's own whose content is source */
    STEP_BIND,      /* a host tree (or file, with STEP_IS_FILE) */
    STEP_OVERLAY,   /* a host tree; writes go to a layer */
    STEP_TMPFS,     /* an empty place of size bytes */
    STEP_POOL,      /* on the shelf: the file system of all private places, of size bytes */
    STEP_PRIVATE,   /* one of them: a directory of the pool, named by source */
    STEP_COPY,      /* a file in one of them that begins as that of the host, if there is one */
    STEP_KEPT,      /* the kept home: a directory of the host's. In it STEP_DIR and STEP_FILE may be
                     * there already, and have STEP_IN_TREE */
    STEP_PROC,      /* the sandbox's own procfs; with STEP_IS_FILE a file of that around us */
    STEP_DEVPTS,    /* the sandbox's own terminals */
    STEP_NODE,      /* a device or socket of the host; used by name unless it is read-only */
    STEP_MASK_DIR,  /* an unreadable empty directory over what is there */
    STEP_MASK_FILE, /* an unreadable empty file over what is there */
    STEP_MASK_KEPT, /* one of these two over what may be there, in the kept home */
    STEP_SEAL,      /* what is there, read-only in place */
    STEP_PIN,       /* what is there, made a mount point so that it cannot be moved away */
    STEP_SHUT,      /* what is there, read-only, with sockets that nobody can connect to */
    STEP_CGROUP,    /* the sandbox's own view of cgroup v2 */
    STEP_SHELF,     /* a file of our own, named by source, over what is there */
    STEP_AGAIN,     /* what is at source inside, with all that is mounted in it */
    STEP_CLOSE,     /* a tmpfs of ours is complete: read-only from now on */
    STEP_SEAL_ALL,  /* all that is mounted so far, and the root itself */
    STEP_TOLD,      /* a file of the sandbox's own: PART_TOLD */
    STEP_COUNT,
};

enum {
    STEP_READ_ONLY = 1,
    STEP_IS_FILE = 2,
    STEP_IN_TREE = 4, /* the target lies in a tree of the host: no link on the way is followed */
    STEP_IDMAP = 8,   /* files of the caller belong to the command; it is opened by the launcher */
    STEP_OPTIONAL = 16, /* what is not there (any more) is skipped */
    STEP_ON_SHELF = 64, /* made beside the root, to be mounted into it */
    STEP_NO_EXEC = 256,
    STEP_ON_LINK = 128, /* the target is a link, and is covered itself */
    STEP_STEADY = 32,   /* only root can change what the source's name leads to: used by name */
};

/* On the shelf: where a tree and its layer are mounted before they are one overlay. */
#define OVERLAY_LOWER "overlay-lower"
#define OVERLAY_LAYER "overlay-layer"

struct image_mount {
    uint8_t step; /* enum image_step */
    uint8_t reserved;
    uint16_t flags;
    uint16_t mode; /* of what is made: STEP_DIR, STEP_TEXT, STEP_TOLD, STEP_TMPFS, STEP_PRIVATE */
    uint32_t source, target;
    uint64_t size_bytes; /* STEP_TMPFS, STEP_POOL; of STEP_NODE the device that it must be, 256 *
                          * major + minor, or 0 */
};

/* A path rule: see wire/rules.h. */
struct image_rule {
    uint32_t path, spelled, name, link; /* 0: none */
    uint8_t kind, read, write, flags;
    uint8_t authority;
    uint8_t reserved;
    uint16_t order; /* of the layer */
};

/* The words of a rule: those of the same number in PART_RULES, or none at all. */
struct image_words {
    uint32_t reason;
    uint32_t suffixes; /* each with its dot, and a slash between them */
    uint64_t max_file_bytes;
};

/* Whose rules those of an authority and an order are. */
struct image_layer {
    uint32_t name;
    uint8_t id, authority;
    uint16_t order;
};

/* A rule on hosts, and an entry of a list: see wire/rules.h. */
struct image_net_rule {
    uint32_t spelled, by;
    uint8_t verdict, flags, authority, reserved;
    uint16_t order, reserved_too;
};
struct image_item {
    uint32_t key, value; /* key 0: none */
    uint8_t list, authority;
    uint16_t order;
};

struct image_landlock_rule {
    uint32_t path; /* absolute, inside */
    uint32_t reserved;
    uint64_t access;
};

/* What the image was made from: when one of these is not so any more, it is made anew. */
enum image_dep_kind {
    DEP_NONE,    /* follows from another; not in images */
    DEP_ENV,     /* a variable of the caller: name in path, value in text */
    DEP_NO_ENV,  /* not set */
    DEP_ABSENT,  /* lstat: ENOENT or ENOTDIR */
    DEP_NO_LINK, /* lstat: absent, or no symbolic link */
    DEP_ENTRY,   /* lstat: the same kind of file; a link to the same text */
    DEP_CLOSED,  /* lstat: the same errno, in mode */
    DEP_MODE,    /* lstat: the same file, owner and mode */
    DEP_FILE,    /* stat: the same file with the same content, owner and mode */
    DEP_DIR,     /* lstat: the same directory with the same entries */
    DEP_MOUNTS,  /* the same mounts at the path and below it, see mounts_add_below */
    /* lstat: a directory of the same owner and mode. If it has the same entries too, what is behind
     * it is so, else that is looked at. */
    DEP_GATE,
};
struct image_dep {
    uint8_t kind;
    uint8_t
        is_remote;   /* DEP_GATE: its time of change is not this kernel's: it answers for nothing */
    uint16_t behind; /* DEP_GATE: how many entries it stands for */
    uint32_t path, text;
    uint32_t mode, uid;
    uint32_t reserved_too;
    uint64_t dev, ino;
    int64_t ctime_ns; /* -1: of a DEP_GATE that was not settled */
};

/* As ctime_ns has it. */
static inline int64_t image_time_ns(struct timespec time)
{
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* Whether a file changed so long ago that one more change would show: clocks of file systems go by
 * ticks of up to 10 ms, and old ones by two seconds. */
static inline bool image_is_settled(int64_t ctime_ns, struct timespec now)
{
    return image_time_ns(now) - ctime_ns > (ctime_ns % 1000000000 ? 20 : 2100) * 1000000LL;
}

struct image_env {
    uint32_t name;  /* a name or a pattern with '*' */
    uint32_t value; /* of ENV_SET */
    uint32_t what;  /* enum image_env_kind */
};
enum image_env_kind { ENV_PASS, ENV_DENY, ENV_SET };

/* As SETTING_LIMITS_*, but what the mounts hold; 0: no limit. */
struct image_limits {
    uint64_t pids, memory_high, memory, cpu_percent, io_weight;
    uint64_t io_read_bytes, io_write_bytes, io_read_ops, io_write_ops; /* per second */
    uint64_t open_files, file_size, time_ms;
    uint64_t layer_size; /* or LAYER_SIZE_SHARE */
    uint32_t demanded;   /* enum cgroup_limit: where one of these is not held, nothing is run */
    uint8_t cgroup;      /* enum cgroup_kind that is to hold them */
    uint8_t is_wish;     /* best effort: where one of the demanded is not held, it is said */
    uint8_t reserved[2];
    uint32_t inotify_instances, inotify_watches;
};

/* A name that is hidden in a tree that is shown, and may appear or be replaced while it runs; or a
 * directory in which any name may be one. Paths are the host's. */
struct image_watch {
    uint32_t path;
    uint32_t tree;  /* the tree that shows it: path, or above it */
    uint32_t flags; /* WATCH_DEEP */
    uint32_t reserved;
};
enum { WATCH_DEEP = 1 /* all directories in it */ };

struct image_span {
    uint32_t at, count; /* offset from the start of the image; entries */
};

enum image_flag {
    IMAGE_OWN_NET = 1,         /* a network namespace of its own */
    IMAGE_MAY_TRACE = 2,       /* --debug */
    IMAGE_MAY_NEST = 4,        /* --allow-containers */
    IMAGE_NOTIFIES = 8,        /* the filter sends calls to the supervisor */
    IMAGE_PARTIAL = 16,        /* --best-effort: something is not enforced */
    IMAGE_PROVEN = 32,         /* a probe inside found it contained, on this kernel */
    IMAGE_BIND_REMOUNT = 64,   /* no mount_setattr: bind and remount */
    IMAGE_STEERS = 256,        /* what it sends goes to our listeners: see kernel/steer.h */
    IMAGE_DATAGRAMS = 512,     /* with IMAGE_STEERS: those to all ports, too */
    IMAGE_PLAIN = 1024,        /* with IMAGE_STEERS: without nf_tables, at PART_PORTS */
    IMAGE_OWN_TIME = 2048,     /* a time namespace of its own */
    IMAGE_VETH = 16384,        /* a pair of interfaces to the host's network: see kernel/veth.h */
    IMAGE_ENGINE = 8192,       /* a program that leads out: see session/engine.c */
    IMAGE_OBSERVES = 524288,   /* what is opened and no rule grants is told */
    IMAGE_HOLDS_READS = 32768, /* every open is held: sandbox.late */
    IMAGE_EXPLAINS = 65536,    /* --explain */
    IMAGE_ONCE =
        128, /* made from many files, from some that changed, or in haste: for one start only */
    IMAGE_HANDS_OVER = 4096, /* with IMAGE_STEERS: TCP is connected by the supervisor alone, which
                                hands sockets of the host's in for opaque rules */
    IMAGE_ASKS = 131072,     /* a rule on paths says ask: the supervisor may have to */
    IMAGE_AROUND = 262144,   /* it was made inside another sandbox */
};

/* The order is the order of the sizes in image.c. */
enum image_part {
    PART_SKELETON, /* struct image_mount: what is made in an empty directory that becomes the root
                    */
    PART_MOUNTS,
    PART_RULES,
    PART_NET_RULES,
    PART_ITEMS, /* of the lists of the network */
    PART_LANDLOCK,
    PART_FILTER, /* struct sock_filter */
    PART_ENV,
    PART_DEPS,
    PART_WATCHES,
    PART_PORTS,   /* uint32_t, with IMAGE_PLAIN: those that are answered inside */
    PART_NOTES,   /* uint32_t strings: what is not enforced here, for status */
    PART_WORDS,   /* struct image_words */
    PART_LAYERS,  /* struct image_layer */
    PART_TOLD,    /* bytes: an image with what the command may know of its rules; see TOLD_PATH */
    PART_STRINGS, /* bytes */
    PART_COUNT,
};

struct image {
    char magic[8];
    char version[16]; /* of the bawn that made it */
    char release[72]; /* uname -r: another kernel, another image */
    uint64_t size;    /* of the whole image in bytes */
    uint64_t nonce;   /* another one for every image */
    uint32_t flags;   /* enum image_flag */
    uint32_t caller_uid, caller_gid;
    uint32_t host_uid, host_gid;     /* who the command is to the host */
    uint32_t inside_uid, inside_gid; /* who it is to itself */
    uint32_t sub_uid, sub_gid;       /* IMAGE_MAY_NEST: host ids that are 1 and more inside */
    uint32_t sub_count;
    uint32_t workspace, home, cwd; /* strings; cwd is where the command starts, inside */
    uint32_t workspace_at;         /* string: where the workspace is inside */
    uint32_t reads;                /* SETTING_READS */
    uint32_t landlock_abi;
    uint32_t last_capability; /* that the kernel has */
    uint32_t dropped;         /* of the notes: what was asked for, and best effort goes without */
    uint32_t backend;         /* enum backend_id: what carries it out */
    uint32_t ask_seconds;     /* SETTING_ASK_TIMEOUT */
    uint8_t network_mode, network_unlisted; /* SETTING_NETWORK_MODE, SETTING_NETWORK_UNLISTED */
    uint16_t network_mtu;    /* SETTING_NETWORK_MTU; 0: the kernel's, or the engine's own */
    uint32_t upstream_proxy; /* string: SETTING_NETWORK_UPSTREAM_PROXY; 0: none */
    uint32_t network_subnet; /* SETTING_NETWORK_CIDR: its first address; 0: any that is free */
    uint32_t engine_path;    /* string; of IMAGE_ENGINE */
    uint8_t network_engine;  /* SETTING_NETWORK_ENGINE */
    uint8_t network_bits;    /* of IMAGE_ENGINE: of the subnet */
    uint8_t audit;           /* SETTING_AUDIT */
    uint8_t network_ipv6;    /* SETTING_NETWORK_IPV6 */
    char policy_hash[72];    /* SHA-256 in hex of what 'bawn policy show --json' prints */
    uint64_t landlock_fs, landlock_net, landlock_scoped;
    struct image_limits limits;
    struct image_span parts[PART_COUNT];
};

extern const char image_magic[8];

/* Where a sandbox has what it is told of its own rules: an image with nothing but PART_RULES and
 * what belongs to it. The launcher does not read it. */
#define TOLD_PATH "/dev/bawn"
enum { TOLD_BYTES_MAX = 1 << 20 }; /* more is not told: the root is small */

/* An image that somebody else made: 0, or -EBADMSG when any offset leads astray. */
int image_check(const void *bytes, size_t size, struct bawn_error *err);

static inline const void *image_part(const struct image *image, enum image_part part)
{
    return (const char *)image + image->parts[part].at;
}
static inline uint32_t image_count(const struct image *image, enum image_part part)
{
    return image->parts[part].count;
}
static inline const char *image_string(const struct image *image, uint32_t at)
{
    return (const char *)image_part(image, PART_STRINGS) + at;
}
#define image_each(image, part, type, entry)                                                       \
    for (const type *entry = image_part(image, part),                                              \
                    *entry##_end = entry + image_count(image, part);                               \
         entry < entry##_end; entry++)

/* Whether a step puts something else over a path, which is as in the steps: relative to the root.
 * What is made beside the root, or shown once more, covers nothing. */
bool image_covers(const struct image *image, const struct image_mount *step, const char *path);

/* Whether the launcher gets the sandbox's user and mount namespaces: to cover a name that appears,
 * to measure a layer, or to find a copy, which a command that has ended meanwhile would take along
 * with all mounts. */
bool image_needs_spaces(const struct image *image);

/* A short name for what an image is: same inputs, same words. */
const char *image_enforcement(const struct image *image); /* "full", "partial" */

#endif
