/* SPDX-License-Identifier: Apache-2.0 */
/* One command with the policy of a directory, in one call. */
#include <bawn/bawn.h>
#include <errno.h>
#include <unistd.h>

static int make_plan(const char *dir, struct bawn_policy **ret_policy, struct bawn_host **ret_host,
                     struct bawn_plan **ret_plan, struct bawn_error *err)
{
    struct bawn_load *load = NULL;
    struct bawn_probe *probe = NULL;
    int r = bawn_host_probe_start(&probe, err);
    int probed;

    if (r == 0)
        r = bawn_load_new(&load, err);
    if (r == 0 && dir)
        r = bawn_load_workspace(load, dir, err);
    if (r == 0) {
        bawn_load_matches(load, true);
        bawn_load_make(load, true);
        bawn_load_at_once(load, true);
        r = bawn_policy_load(load, ret_policy, NULL, err);
    }
    probed = bawn_host_probe_finish(probe, ret_host, r == 0 ? err : NULL);
    if (r == 0)
        r = probed;
    if (r == 0)
        r = bawn_plan_new(*ret_policy, *ret_host, ret_plan, err);
    bawn_load_free(load);
    return r;
}

int bawn_run(const char *dir, const char *const *argv, int *ret_status, struct bawn_error *err)
{
    struct bawn_command command = {.argv = argv,
                                   .fds = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}};
    struct bawn_policy *policy = NULL;
    struct bawn_host *host = NULL;
    struct bawn_plan *plan = NULL;
    struct bawn_session *session = NULL;
    int r = make_plan(dir, &policy, &host, &plan, err);

    if (r == 0)
        r = bawn_run_start(plan, &command, &session, err);
    if (r == 0)
        r = bawn_session_wait(session, 0, ret_status, err);
    bawn_session_close(session);
    bawn_plan_free(plan);
    bawn_host_free(host);
    bawn_policy_free(policy);
    return r;
}
