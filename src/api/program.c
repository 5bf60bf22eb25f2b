/* SPDX-License-Identifier: Apache-2.0 */
/* Which program a name stands for, inside. */
#include "base/program.h"
#include "api/api.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "policy/decide.h"
#include "policy/resolve.h"
#include "policy/told.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether it is there inside: what is private is another place. */
static bool is_shown(const struct policy *policy, const char *path)
{
    struct path_decision decisions[PATH_OP_COUNT];
    char resolved[LIMIT_PATH_BYTES];

    /* Inside, what is private is what the asker sees. */
    return resolve_path(policy, told_start(policy), path, &view_passing, resolved, NULL) == 0 &&
           told_decide(policy, resolved, decisions) == 0 &&
           decisions[PATH_READ].access < (policy->told.cwd ? ACCESS_ASK : ACCESS_PRIVATE);
}

/* The first that is there and shown. False: none; *first is one that is there, or "". */
static bool find_shown(const struct policy *policy, const char *name, char path[LIMIT_PATH_BYTES],
                       char first[LIMIT_PATH_BYTES])
{
    const char *places = getenv("PATH");

    *first = '\0';
    if (!places || !*places)
        places = program_places;
    while (program_next(&places, name, path)) {
        if (is_shown(policy, path))
            return true;
        if (!*first)
            memcpy(first, path, LIMIT_PATH_BYTES);
    }
    return false;
}

/* As the kernel would see it inside: where the links lead, if the command can write neither the
 * file nor make another one of it. */
static bool find_held(const struct policy *policy, const char *path, char file[LIMIT_PATH_BYTES])
{
    struct path_decision decisions[PATH_OP_COUNT];
    struct stat status;

    if (resolve_path(policy, told_start(policy), path, &view_passing, file, NULL) < 0 ||
        told_decide(policy, file, decisions) < 0 || stat(file, &status) < 0 ||
        !S_ISREG(status.st_mode))
        return false;
    if (status.st_nlink > 1 &&
        (status.st_uid == getuid() || (status.st_mode & (S_IWGRP | S_IWOTH))))
        return false;
    return decisions[PATH_READ].access == ACCESS_ALLOW &&
           decisions[PATH_WRITE].access >= ACCESS_ASK;
}

static bool is_script(const char *path)
{
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    char start[2];

    return fd >= 0 && read(fd, start, sizeof(start)) == 2 && memcmp(start, "#!", 2) == 0;
}

int program_by(const struct bawn_policy *policy, const char *name, struct by_program *ret_program,
               struct bawn_error *err)
{
    char path[LIMIT_PATH_BYTES], first[LIMIT_PATH_BYTES] = "";
    bool is_found = strchr(name, '/')
                        ? strlen(name) < sizeof(path) && is_shown(&policy->policy, name)
                        : find_shown(&policy->policy, name, path, first);

    *ret_program = (struct by_program){.policy = &policy->policy};
    if (!is_found) {
        error_set(err, EINVAL, "network.bad_program", "--by %.1000s: %s", name,
                  *first ? "the sandbox does not show it"
                         : "there is no such program in the sandbox");
        error_hint(err, "name a program that the command can run: 'bawn check exec' tells which");
        return -EINVAL;
    }
    if (strchr(name, '/'))
        memcpy(path, name, strlen(name) + 1);
    if (!find_held(&policy->policy, path, ret_program->path) || is_script(ret_program->path))
        ret_program->path[0] = '\0';
    return 0;
}

bool program_is_by(void *context, const struct net_rule *rule)
{
    const struct by_program *program = context;
    char file[LIMIT_PATH_BYTES];

    return program->path[0] && find_held(program->policy, rule->by, file) &&
           strcmp(file, program->path) == 0;
}

int decide_program(const struct bawn_policy *policy, const char *name,
                   struct bawn_decision **ret_decision, struct bawn_error *err)
{
    char path[LIMIT_PATH_BYTES], first[LIMIT_PATH_BYTES];
    autostrbuf struct strbuf text = {0};
    autostrbuf struct strbuf rule = {0};
    struct bawn_error why = {0};

    if (find_shown(&policy->policy, name, path, first))
        return bawn_decide(policy, BAWN_EXEC, path, ret_decision, err);
    if (!ret_decision)
        return BAWN_DENY;
    if (*first)
        (void)program_refuse(name, first, builtin_find("presets", name) ? name : NULL, &why);
    else
        (void)error_set(&why, ENOENT, "exec.not_found", "there is no such program in PATH");
    strbuf_addf(&text, "Cannot execute '%s': %s.", name, why.message);
    if (why.hint[0])
        strbuf_addf(&text, "\nTo show it: %s", why.hint);
    return decision_give(BAWN_DENY, why.code, &text, &rule, NULL, *first ? first : name,
                         ret_decision, err);
}
