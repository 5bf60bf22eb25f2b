/* SPDX-License-Identifier: Apache-2.0 */
/* Every key of a policy, in one table: its type, what narrows it, and what it means. */
#ifndef POLICY_SETTING_H
#define POLICY_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum setting_id {
    SETTING_PROFILE,
    SETTING_AUDIT,
    SETTING_ASK_TIMEOUT,
    SETTING_READS,
    SETTING_REQUIRE_OS_SANDBOX,
    SETTING_NETWORK_MODE,
    SETTING_NETWORK_UNLISTED,
    SETTING_NETWORK_LOCAL_BINDING,
    SETTING_NETWORK_PROXY_ENV,
    SETTING_NETWORK_HTTP_PROXY_PORT,
    SETTING_NETWORK_SOCKS_PROXY_PORT,
    SETTING_NETWORK_UPSTREAM_PROXY,
    SETTING_NETWORK_ENGINE,
    SETTING_NETWORK_ENGINE_PATH,
    SETTING_NETWORK_CIDR,
    SETTING_NETWORK_MTU,
    SETTING_NETWORK_IPV6,
    SETTING_NETWORK_AUTHZ_PORT,
    SETTING_LIMITS_PRESET,
    SETTING_LIMITS_PIDS,
    SETTING_LIMITS_MEMORY_HIGH,
    SETTING_LIMITS_MEMORY,
    SETTING_LIMITS_CPU,
    SETTING_LIMITS_IO_WEIGHT,
    SETTING_LIMITS_IO_READ_BYTES,
    SETTING_LIMITS_IO_WRITE_BYTES,
    SETTING_LIMITS_IO_READ_OPS,
    SETTING_LIMITS_IO_WRITE_OPS, /* the last that a control group holds */
    SETTING_LIMITS_OPEN_FILES,
    SETTING_LIMITS_FILE_SIZE,
    SETTING_LIMITS_TMP_SIZE,
    SETTING_LIMITS_LAYER_SIZE,
    SETTING_LIMITS_TIME,
    SETTING_PROCESS_DEBUG,
    SETTING_PROCESS_MAP_ROOT,
    SETTING_PROCESS_AS_ROOT,
    SETTING_PROCESS_CONTAINERS,
    SETTING_PROCESS_TIME_NS,
    SETTING_PROCESS_EXPLAIN,
    SETTING_PROCESS_OBSERVE,
    SETTING_PROCESS_UNSANDBOXED,
    SETTING_DEVICES_KVM,
    SETTING_WORKSPACE_MOUNT,
    SETTING_HOME,
    SETTING_REPOSITORY,
    SETTING_LATE,
    SETTING_OVERLAY_ALL,
    SETTING_COUNT,
};

enum list_id {
    LIST_LOCK,
    LIST_PRESETS,
    LIST_REOPEN,
    LIST_NETWORK_HOSTS,
    LIST_NETWORK_UNIX_SOCKETS,
    LIST_NETWORK_PUBLISH,
    LIST_NETWORK_HOST_PORTS,
    LIST_NETWORK_UPSTREAM_NO_PROXY,
    LIST_ENV_PASS,
    LIST_ENV_SET,
    LIST_ENV_DENY,
    LIST_EXCLUDED_COMMANDS,
    LIST_DEVICES_ALLOW,
    LIST_DEVICES_DENY,
    LIST_TOOLS,
    LIST_TOOL_RULES,    /* key: tool; access: deny, ask or allow */
    LIST_COMMAND_RULES, /* key: tool; value: command pattern */
    LIST_COUNT,
};

enum value_type {
    VALUE_BOOL,
    VALUE_WORD, /* one of words */
    VALUE_TEXT,
    VALUE_PLACE,   /* an absolute path, normalized, not the root */
    VALUE_COUNT,   /* a whole number, at most max */
    VALUE_SIZE,    /* bytes, with K, M, G */
    VALUE_PERCENT, /* of one CPU; "80%" or 80 */
    VALUE_SECONDS, /* with s, m, h, d */
    VALUE_PORT,
    VALUE_MTU,
    VALUE_SUBNET, /* ADDRESS/BITS; its number: the first address, and the bits in the last byte */
    VALUE_PROXY,  /* http://HOST:PORT */
};

/* Which way is narrower: the only way a project may go. */
enum narrowing {
    NARROW_NEVER,  /* a project may not set it at all */
    NARROW_LOWER,  /* a smaller number; false; a word nearer the start of its list */
    NARROW_HIGHER, /* true */
};

struct setting_info {
    const char *key; /* "sandbox.reads" */
    enum value_type type;
    enum narrowing narrow;
    uint64_t max;             /* for counts */
    const char *const *words; /* the strictest first; NULL-terminated */
    const char *help;
};

struct list_info {
    const char *key;
    bool is_map;
    bool widens; /* adding to it grants something: not for projects */
    const char *help;
};

extern const struct setting_info setting_table[SETTING_COUNT];
extern const struct list_info list_table[LIST_COUNT];

/* Reads a value. Returns false when the text is not one; setting_expects says what would be. */
bool setting_parse(enum setting_id id, const char *text, uint64_t *ret_number);
void setting_expects(enum setting_id id, char *out, size_t out_size);

/* How strict a value is; two values of one setting compare by it. */
int64_t setting_strictness(enum setting_id id, uint64_t number);

/* Whether this is the strictest value there is: a denial that a weaker layer cannot re-open. */
bool setting_is_denial(enum setting_id id, uint64_t number);

/* Whether a variable makes the next program run code of somebody's choice: never passed on or set.
 */
bool env_is_dangerous(const char *name, size_t length);
/* Whether no policy can give the variable another value than bawn does. */
bool env_is_fixed(const char *name);
/* Whether a name of sandbox.process.env, perhaps with a final *, matches a variable. */
bool env_matches(const char *pattern, const char *name, size_t length);

/*
 * Why an entry is not carried out, or NULL: it is. Loading warns of it, a plan says
 * that nobody holds it, and so nothing is run with it.
 */
const char *list_not_yet(enum list_id list, uint64_t network_mode);

/* SETTING_COUNT when there is no such key. */
enum setting_id setting_find(const char *key);
enum list_id list_find(const char *key);

enum { ASK_SECONDS = 300 }; /* SETTING_ASK_TIMEOUT, where nothing is said */
enum audit_mode { AUDIT_REQUIRED, AUDIT_ON, AUDIT_OFF };
enum reads_mode { READS_STRICT, READS_DYNAMIC, READS_STATIC };
enum network_mode { NETWORK_NONE, NETWORK_PROXY, NETWORK_ISOLATED, NETWORK_VETH, NETWORK_HOST };
enum network_engine { ENGINE_BAWN, ENGINE_SLIRP4NETNS, ENGINE_PASTA };
enum repository_mode { REPOSITORY_NONE, REPOSITORY_AUTO };
enum home_mode { HOME_NONE, HOME_PRIVATE, HOME_KEEP };
enum late_mode { LATE_HELD, LATE_WATCH };
enum unlisted { UNLISTED_DENY, UNLISTED_ASK };
/* SETTING_LIMITS_LAYER_SIZE, where nothing is said: half of what is free on the disk of the layers
 * when the session starts, and what they hold by then. */
#define LAYER_SIZE_SHARE UINT64_MAX
enum limits_preset { LIMITS_STRICT, LIMITS_DEFAULT, LIMITS_NONE };

#endif
