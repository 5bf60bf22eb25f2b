/* SPDX-License-Identifier: Apache-2.0 */
/* The policy of the sandbox that the caller is in, as far as a sandbox is told. */
#include "api/api.h"
#include "api/outer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "wire/rules.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool bawn_is_inside(void)
{
    struct stat status;

    return outer_is_there() || (lstat(TOLD_PATH, &status) == 0 && S_ISREG(status.st_mode));
}

static int refuse(int result, struct bawn_error *err)
{
    if (result == -ENOENT) {
        (void)error_set(err, ENOENT, "inside.untold",
                        TOLD_PATH " is not there: this is no sandbox of bawn's, or one that is "
                                  "told nothing of its rules");
        error_hint(err, "ask outside; or about a sandbox that would be started here: --nested");
    } else if (result == -EBADMSG) {
        (void)error_set(err, EBADMSG, "inside.version",
                        TOLD_PATH ": another version of bawn started this sandbox");
        error_hint(err, "ask with the bawn that started it");
    }
    return result;
}

bool bawn_policy_is_inside(const struct bawn_policy *policy)
{
    return policy->policy.told.cwd != NULL;
}

int bawn_policy_inside(struct bawn_policy **ret_policy, struct bawn_error *err)
{
    struct bawn_policy *inside = calloc(1, sizeof(*inside));
    struct policy *policy = inside ? &inside->policy : NULL;
    const struct image *image = NULL;
    char cwd[LIMIT_PATH_BYTES];
    struct stat status;
    size_t length = 0;
    int r;

    if (!inside)
        return error_memory(err);
    r = file_read_itself(AT_FDCWD, TOLD_PATH, TOLD_BYTES_MAX, &inside->told, &length, &status, err);
    if (r == 0)
        r = image_check(inside->told, length, err);
    if (r == 0) {
        image = (const struct image *)(const void *)inside->told;
        r = rules_unpack(image, policy, err);
    }
    if (r == 0) {
        policy->told = (struct told_self){
            .cwd = arena_strdup(&policy->arena, getcwd(cwd, sizeof(cwd)) ? cwd : "/"),
            .workspace_at = image_string(image, image->workspace_at),
            .is_around = image->flags & IMAGE_AROUND,
        };
        r = policy->told.cwd ? rules_unpack_net(image, policy, err) : error_memory(err);
    }
    if (r < 0) {
        bawn_policy_free(inside);
        return refuse(r, err);
    }
    *ret_policy = inside;
    return 0;
}
