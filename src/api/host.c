/* SPDX-License-Identifier: Apache-2.0 */
/* The host: what the kernel grants, and plans for it. */
#include "api/api.h"
#include "api/git_identity.h"
#include "backend/backend.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "kernel/disk.h"
#include "kernel/probe.h"
#include "plan/doctor.h"

#include <stdlib.h>
#include <string.h>

static enum look look_and_note(void *context, const char *path, char *target, size_t target_size)
{
    struct link_notes *notes = context;
    enum look look = notes->host->look(notes->host->context, path, target, target_size);

    if (look == LOOK_LINK)
        strbuf_add_bytes(&notes->links, path, strlen(path) + 1);
    return look;
}

void link_notes_init(struct link_notes *notes, const struct looker *host)
{
    *notes = (struct link_notes){
        .looker = {.look = look_and_note, .closer = host->closer, .context = notes}, .host = host};
}

void link_notes_done(struct link_notes *notes)
{
    strbuf_done(&notes->links);
}

const char *link_notes_next(const struct link_notes *notes, const char *link)
{
    link = link ? link + strlen(link) + 1 : notes->links.text;
    return link && link < notes->links.text + notes->links.length ? link : NULL;
}

/* Tries what this host allows while its caller reads the policy. */
struct bawn_probe {
    struct probing probing;
};

int bawn_host_probe_start(struct bawn_probe **ret_probe, struct bawn_error *err)
{
    struct bawn_probe *probe = calloc(1, sizeof(*probe));
    int r = probe ? probe_begin(&probe->probing, err) : error_memory(err);

    if (r < 0)
        free(probe);
    else
        *ret_probe = probe;
    return r;
}

static int finish(struct bawn_probe *probe, bool programs, struct bawn_host **ret_host,
                  struct bawn_error *err)
{
    autofree struct bawn_host *host = calloc(1, sizeof(*host));
    struct host_facts unused;
    int r = probe_end(&probe->probing, host ? &host->facts : &unused, err);

    free(probe);
    if (!host)
        return error_memory(err);
    if (r < 0)
        return r;
    backend_detect(&host->facts, programs);
    if (ret_host)
        *ret_host = take_ptr(&host);
    return 0;
}

int bawn_host_probe_finish(struct bawn_probe *probe, struct bawn_host **ret_host,
                           struct bawn_error *err)
{
    return probe ? finish(probe, false, ret_host, err) : 0;
}

static int host_new(bool programs, struct bawn_host **ret_host, struct bawn_error *err)
{
    struct bawn_probe *probe = NULL;
    int r = bawn_host_probe_start(&probe, err);

    return r < 0 ? r : finish(probe, programs, ret_host, err);
}

int bawn_host_probe(struct bawn_host **ret_host, struct bawn_error *err)
{
    return host_new(true, ret_host, err);
}

int bawn_host_probe_kernel(struct bawn_host **ret_host, struct bawn_error *err)
{
    return host_new(false, ret_host, err);
}

void bawn_host_free(struct bawn_host *host)
{
    free(host);
}

int bawn_host_print(const struct bawn_host *host, enum bawn_format format, char **ret_text,
                    struct bawn_error *err)
{
    return host_print(&host->facts, format, ret_text, err);
}

bool bawn_host_can_start(const struct bawn_host *host)
{
    return backend_best(&host->facts) != BACKEND_COUNT;
}

int bawn_host_doctor(const struct bawn_host *host, enum bawn_format format, char **ret_text,
                     struct bawn_error *err)
{
    return doctor_print(&host->facts, format, ret_text, err);
}

struct view *view_of(const struct bawn_policy *policy)
{
    return policy->is_at_once && !policy->view->is_past ? policy->view : view_new(policy->environ);
}

void view_leave(const struct bawn_policy *policy, struct view *view)
{
    if (view != policy->view)
        view_free(view);
}

/* The plan, and what git's configuration is in it, which is being read meanwhile. */
static int make_plan(const struct plan_input *input, struct bawn_plan *plan, struct bawn_error *err)
{
    const struct bawn_policy *policy = plan->source;
    struct git_identity *identity = policy->identity;
    int r = identity ? 0 : git_identity_new(policy, plan->view, &identity, err);

    if (r == 0)
        r = plan_make(input, &plan->plan, err);
    if (r == 0) {
        r = git_identity_hear(identity, plan->view, err);
        if (r == 0)
            r = plan_take_gitconfig(&plan->plan, identity->text, identity->why, err);
        if (r < 0)
            plan_done(&plan->plan);
    }
    if (identity != policy->identity)
        git_identity_free(identity);
    return r;
}

int bawn_plan_new(const struct bawn_policy *policy, const struct bawn_host *host,
                  struct bawn_plan **ret_plan, struct bawn_error *err)
{
    struct bawn_plan *plan = calloc(1, sizeof(*plan));
    struct plan_input input = {.policy = &policy->policy,
                               .environ = (const char *const *)policy->environ};
    struct disk disk;
    int r;

    if (policy->policy.told.cwd) {
        free(plan);
        return error_set(err, EINVAL, "plan.inside",
                         "no plan can be made of what a sandbox is told of its own rules");
    }
    if (!plan)
        return error_memory(err);
    plan->facts = host->facts;
    plan->source = policy;
    plan->view = view_of(policy);
    if (!plan->view) {
        free(plan);
        return error_memory(err);
    }
    input.facts = &plan->facts;
    input.looker = &plan->view->looker;
    if (plan_limits_disk(&policy->policy)) {
        disk_find(policy->policy.workspace, &disk);
        input.disk = &disk;
    }
    r = make_plan(&input, plan, err);
    if (r < 0) {
        view_leave(policy, plan->view);
        free(plan);
        return r;
    }
    if (plan->view != policy->view)
        view_finish(plan->view);
    *ret_plan = plan;
    return 0;
}

void bawn_plan_free(struct bawn_plan *plan)
{
    if (!plan)
        return;
    plan_done(&plan->plan);
    view_leave(plan->source, plan->view);
    free(plan);
}

enum bawn_enforcement bawn_plan_enforcement(const struct bawn_plan *plan)
{
    if (plan->plan.backend == BACKEND_COUNT)
        return BAWN_ENFORCED_NONE;
    return plan->plan.unenforced ? BAWN_ENFORCED_PARTIAL : BAWN_ENFORCED_FULL;
}

int bawn_plan_print(const struct bawn_plan *plan, enum bawn_format format, char **ret_text,
                    struct bawn_error *err)
{
    return plan_print(&plan->plan, format, ret_text, err);
}

int bawn_plan_left_out(const struct bawn_plan *plan, char **ret_text, struct bawn_error *err)
{
    return plan_print_left_out(&plan->plan, ret_text, err);
}

const char *bawn_version(void)
{
    return BAWN_VERSION;
}
