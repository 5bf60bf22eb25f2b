/* SPDX-License-Identifier: Apache-2.0 */
/* Loading a policy from all its layers, and printing it again. */
#ifndef BAWN_POLICY_H
#define BAWN_POLICY_H

#include <bawn/report.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A loaded policy never changes: any number of threads may ask it questions
 * at once. What to load is collected in a struct bawn_load first:
 *
 *     bawn_load_new(&load, &err);
 *     bawn_load_path(load, "ro", "/srv/data", "my program", &err);
 *     bawn_policy_load(load, &policy, &report, &err);
 *     bawn_load_free(load);
 *
 * Functions that return int return 0, or a negative errno with *err set.
 */
struct bawn_load;
struct bawn_policy;

/* Starts from the calling process: its environment now, its working directory and user when the
 * policy is loaded. One struct bawn_load is for one thread at a time. */
BAWN_API int bawn_load_new(struct bawn_load **ret_load, struct bawn_error *err);
BAWN_API void bawn_load_free(struct bawn_load *load);

/* Where the work happens: relative paths start here, and the project's policy is
 * looked for here and above. Default: the working directory. */
BAWN_API int bawn_load_workspace(struct bawn_load *load, const char *dir, struct bawn_error *err);

/* Replaces the environment that HOME, XDG_* and BAWN_* are read from: "NAME=VALUE", ended by NULL.
 */
BAWN_API int bawn_load_environ(struct bawn_load *load, const char *const *variables,
                               struct bawn_error *err);

/* Skips the files of the org, user, project and local layers and the BAWN_* variables. */
BAWN_API void bawn_load_isolated(struct bawn_load *load, bool isolated);

/* Looks through the granted trees for files that patterns hide, so that a plan can mask them.
 * Needed for a plan that is carried out. */
BAWN_API void bawn_load_matches(struct bawn_load *load, bool matches);

/* Makes the directories that the user wants made ("make: true", mode rw-new) and that are not
 * there. */
BAWN_API void bawn_load_make(struct bawn_load *load, bool makes);

/* The policy is for one plan, which is made and compiled at once: what was looked at on the host
 * for the policy is not looked at again for the plan. */
BAWN_API void bawn_load_at_once(struct bawn_load *load, bool at_once);

/* Also reads Claude Code's settings.json files, each in the layer it belongs to. */
BAWN_API void bawn_load_claude(struct bawn_load *load, bool claude);

/* The built-in profile to start from ("default"), and presets to add. */
BAWN_API int bawn_load_profile(struct bawn_load *load, const char *name, struct bawn_error *err);
BAWN_API int bawn_load_preset(struct bawn_load *load, const char *name, struct bawn_error *err);

/*
 * A policy file named by the user; read when the policy is loaded, a relative path from the working
 * directory. The format is "bawn", "claude", "srt",
 * "sandboxes", or NULL to tell it from the content. bawn_load_text takes the
 * bytes themselves; name stands for the file in complaints.
 */
BAWN_API int bawn_load_file(struct bawn_load *load, const char *path, const char *format,
                            struct bawn_error *err);
BAWN_API int bawn_load_text(struct bawn_load *load, const char *name, const char *text,
                            size_t length, const char *format, struct bawn_error *err);

/*
 * One value of the last layer. key is a policy key such as "sandbox.reads";
 * for a list the value is added. origin is what complaints call the place,
 * e.g. the option as the user typed it; NULL: no place. bawn_policy_load says
 * whether key and value make sense.
 */
BAWN_API int bawn_load_set(struct bawn_load *load, const char *key, const char *value,
                           const char *origin, struct bawn_error *err);

/* One path of the last layer; mode is ro, rw, overlay, private, ask or deny; origin as above. */
BAWN_API int bawn_load_path(struct bawn_load *load, const char *mode, const char *path,
                            const char *origin, struct bawn_error *err);

/*
 * Reads every layer and returns the policy they make together. ret_report may
 * be NULL; it is set on failure too, and then holds every complaint, while
 * *err holds the first error. Free it with bawn_report_free; it is NULL when
 * memory is short. The policy needs load no longer.
 */
BAWN_API int bawn_policy_load(const struct bawn_load *load, struct bawn_policy **ret_policy,
                              struct bawn_report **ret_report, struct bawn_error *err);
BAWN_API void bawn_policy_free(struct bawn_policy *policy);

/* Whether the caller runs inside a sandbox of bawn's. */
BAWN_API bool bawn_is_inside(void);
/*
 * The policy of the very sandbox that the caller runs in, for questions
 * (bawn/query.h): paths are as the caller sees them, and a relative one starts in
 * its working directory. It has what a command may know. No plan can be made of it.
 * -ENOENT: there is none, or it is told nothing of its rules. -EBADMSG: another
 * version of bawn started it.
 */
BAWN_API int bawn_policy_inside(struct bawn_policy **ret_policy, struct bawn_error *err);
/* Whether a policy is that one. */
BAWN_API bool bawn_policy_is_inside(const struct bawn_policy *policy);

/* Rules that have no effect or that other rules hide and, when host is not NULL, rules that cannot
 * be enforced there. Free with bawn_report_free. */
struct bawn_host;
BAWN_API int bawn_policy_lint(const struct bawn_policy *policy, const struct bawn_host *host,
                              struct bawn_report **ret_report, struct bawn_error *err);

/* What the policy allows that its author may not have meant: commands outside the sandbox, a whole
 * home, secrets. Free with bawn_report_free. */
BAWN_API int bawn_policy_advise(const struct bawn_policy *policy, struct bawn_report **ret_report,
                                struct bawn_error *err);

/* The effective policy, every value with its origin. with_builtin also lists the
 * entries of the built-in secret and protected lists. Free with free(). */
BAWN_API int bawn_policy_show(const struct bawn_policy *policy, bool with_builtin,
                              enum bawn_format format, char **ret_text, struct bawn_error *err);

/* The policy as text of a format: "bawn", "claude" or "srt". What that format
 * cannot say is a warning in the report. Free the text with free(). */
BAWN_API int bawn_policy_export(const struct bawn_policy *policy, const char *format,
                                char **ret_text, struct bawn_report **ret_report,
                                struct bawn_error *err);

/* One foreign policy file, alone, as bawn YAML; complaints as in bawn_policy_load. */
BAWN_API int bawn_policy_import(const char *path, const char *format, char **ret_text,
                                struct bawn_report **ret_report, struct bawn_error *err);

/* One key of bawn YAML, for manuals and editors: what it takes and what it means. */
struct bawn_key {
    const char *key; /* "sandbox.reads" */
    char takes[160]; /* "strict, dynamic or static" */
    const char *help;
};

/* By index from 0; false past the last. */
BAWN_API bool bawn_policy_key(size_t index, struct bawn_key *ret_key);

/* The project's policy file that loading would read, whether or not it exists: the nearest
 * .bawn/policy.yaml at or above the workspace, else the workspace's own. Free with free(). */
BAWN_API int bawn_policy_project_file(const struct bawn_load *load, char **ret_path,
                                      struct bawn_error *err);

/*
 * Records that the user approves this content of a project policy file, by its
 * hash: while the file has that content it may widen, not only narrow. The
 * content is what the user was shown, so a file that changes meanwhile is not
 * approved by accident. Returns the path of the record in *ret_store (may be
 * NULL; free with free()).
 */
BAWN_API int bawn_policy_approve(const struct bawn_load *load, const char *path, const char *text,
                                 size_t length, char **ret_store, struct bawn_error *err);

#ifdef __cplusplus
}
#endif
#endif
