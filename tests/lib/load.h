/* SPDX-License-Identifier: Apache-2.0 */
/* A policy through the whole of the library, from a text alone. */
#ifndef TESTS_LIB_LOAD_H
#define TESTS_LIB_LOAD_H

#include "api/api.h"
#include "lib/test.h"

#include <string.h>

/* No profile, no lists, no files; the workspace is "/", the home "/srv/home". */
static inline struct bawn_policy *load_text(const char *text)
{
    static const char *const home[] = {"HOME=/srv/home", NULL};
    struct bawn_policy *policy = NULL;
    struct bawn_load *load = NULL;
    struct bawn_error err = {0};

    ck_assert_int_eq(bawn_load_new(&load, &err), 0);
    load->isolated = load->no_profile = load->no_lists = true;
    ck_assert_int_eq(bawn_load_environ(load, home, &err), 0);
    ck_assert_int_eq(bawn_load_workspace(load, "/", &err), 0);
    ck_assert_int_eq(bawn_load_text(load, "policy.yaml", text, strlen(text), NULL, &err), 0);
    ck_assert_msg(bawn_policy_load(load, &policy, NULL, &err) == 0, "%s", err.message);
    bawn_load_free(load);
    return policy;
}

#endif
