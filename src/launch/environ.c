/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a command, from the caller's and the image. */
#include "base/environ.h"
#include "base/error.h"
#include "base/mutant.h"
#include "base/vec.h"
#include "launch/launch.h"
#include "policy/setting.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_listed(const struct image *image, enum image_env_kind kind, const char *name,
                      size_t length)
{
    image_each (image, PART_ENV, struct image_env, env) {
        if (env->what == kind && env_matches(image_string(image, env->name), name, length))
            return true;
    }
    return false;
}

static bool is_set(const struct image *image, const char *name, size_t length)
{
    image_each (image, PART_ENV, struct image_env, env) {
        const char *own = image_string(image, env->name);

        if (env->what == ENV_SET && strncmp(own, name, length) == 0 && own[length] == '\0')
            return true;
    }
    return false;
}

static bool is_passed(const struct image *image, const char *variable)
{
    size_t length = strcspn(variable, "=");

    if (!LAYER("env"))
        return !is_set(image, variable, length);
    return variable[length] == '=' && length > 0 && !env_is_dangerous(variable, length) &&
           is_listed(image, ENV_PASS, variable, length) &&
           !is_listed(image, ENV_DENY, variable, length) && !is_set(image, variable, length);
}

static char *set_variable(const struct image *image, const struct image_env *env)
{
    char *text;

    if (asprintf(&text, "%s=%s", image_string(image, env->name), image_string(image, env->value)) <
        0)
        return NULL;
    return text;
}

int launch_environ(const struct image *image, char *const *caller, char ***ret_environ,
                   struct bawn_error *err)
{
    size_t room = image_count(image, PART_ENV) + 1;
    size_t count = 0;
    char **variables;

    for (char *const *at = caller; *at; at++)
        room++;
    variables = calloc(room, sizeof(*variables));
    if (!variables)
        return error_memory(err);
    for (; *caller; caller++) {
        if (is_passed(image, *caller) && !(variables[count++] = strdup(*caller)))
            goto failed;
    }
    image_each (image, PART_ENV, struct image_env, env) {
        if (env->what == ENV_SET && !(variables[count++] = set_variable(image, env)))
            goto failed;
    }
    *ret_environ = variables;
    return 0;
failed:
    environ_free(variables);
    return error_memory(err);
}
