/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to a loaded policy. */
#ifndef BAWN_QUERY_H
#define BAWN_QUERY_H

#include <bawn/policy.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum bawn_verdict { BAWN_ALLOW, BAWN_ASK, BAWN_DENY };

enum bawn_operation { BAWN_READ, BAWN_WRITE, BAWN_EXEC, BAWN_CONNECT };

/* Why a question was answered as it was. */
struct bawn_decision;

/*
 * May the contained program do it? True only when the policy allows it without
 * asking. False also when the question makes no sense (an empty path, a bad
 * port); *err then says so. ret_decision may be NULL. *ret_decision is the
 * reason, or NULL when the question makes no sense.
 *
 * bawn resolves paths as the kernel would inside the sandbox: it follows
 * symbolic links where the program could follow them, and takes out "." and
 * "..". The file itself need not exist. A relative path starts in the
 * workspace. bawn denies a path that it cannot resolve (a loop, ".." behind
 * something that does not exist). It looks for a program that is named without
 * a slash in PATH, as exec would.
 *
 * Inside a sandbox of bawn the answer is also no where that sandbox refuses.
 * The decision's rule is then "outer sandbox".
 */
BAWN_API bool bawn_can_read(const struct bawn_policy *policy, const char *path,
                            struct bawn_decision **ret_decision, struct bawn_error *err);
BAWN_API bool bawn_can_write(const struct bawn_policy *policy, const char *path,
                             struct bawn_decision **ret_decision, struct bawn_error *err);
BAWN_API bool bawn_can_exec(const struct bawn_policy *policy, const char *path,
                            struct bawn_decision **ret_decision, struct bawn_error *err);

/* Whether nothing but a directory may be made at a path, whatever is there now: of an absolute path
 * that has no link in it. Such is .git, where a file would lead git elsewhere. */
BAWN_API bool bawn_is_only_directory(const struct bawn_policy *policy, const char *path);
/* The same of a path below which a rule keeps something from being written: then a link there would
 * put what it leads to in that one's place. */
BAWN_API bool bawn_protects_below(const struct bawn_policy *policy, const char *path);

/* target is NAME:PORT, IPV4:PORT, [IPV6]:PORT or unix:/PATH. Nothing is looked up. */
BAWN_API bool bawn_can_connect(const struct bawn_policy *policy, const char *target,
                               struct bawn_decision **ret_decision, struct bawn_error *err);

/* The same question with all its answers: an enum bawn_verdict, or a negative errno when it makes
 * no sense. BAWN_ALLOW is 0: compare, never test for truth. */
BAWN_API int bawn_decide(const struct bawn_policy *policy, enum bawn_operation operation,
                         const char *what, struct bawn_decision **ret_decision,
                         struct bawn_error *err);

/*
 * May one program connect? Rules that are for a program (by) count only for
 * it. program is its path, or a name that bawn looks for in PATH as exec would.
 * A script is never that program, its interpreter is. Such a rule does not count
 * where the contained program could write the file either.
 */
BAWN_API int bawn_decide_by(const struct bawn_policy *policy, const char *program,
                            const char *target, struct bawn_decision **ret_decision,
                            struct bawn_error *err);

/* The path that the questions above would judge, whatever their answer. Free with free(). */
BAWN_API int bawn_resolve(const struct bawn_policy *policy, const char *path, char **ret_path,
                          struct bawn_error *err);
/* The same for a path that the program may read. -EACCES, with the refusal as the message, if it
 * may not, or if bawn would ask. */
BAWN_API int bawn_reach(const struct bawn_policy *policy, const char *path, char **ret_path,
                        struct bawn_error *err);

/* Rules the application applies itself, after resolving: the suffixes a tree
 * may hold, and how large a file may be. Answers as those of bawn_decide. */
BAWN_API int bawn_check_suffix(const struct bawn_policy *policy, const char *path,
                               struct bawn_decision **ret_decision, struct bawn_error *err);
BAWN_API int bawn_check_size(const struct bawn_policy *policy, const char *path,
                             uint64_t size_bytes, struct bawn_decision **ret_decision,
                             struct bawn_error *err);

/* The strings below belong to the decision. */
BAWN_API void bawn_decision_free(struct bawn_decision *decision);
BAWN_API enum bawn_verdict bawn_decision_verdict(const struct bawn_decision *decision);
/* A stable word: "read.outside", "write.read_only", "network.disabled", ... */
BAWN_API const char *bawn_decision_code(const struct bawn_decision *decision);
/* What to tell the program or the model that asked. When allowed: what else there is to know, such
 * as a proxy that a connection goes through; mostly "". */
BAWN_API const char *bawn_decision_text(const struct bawn_decision *decision);
/* What decided: "paths.NAME", "deny PATTERN", "secret ENTRY", "default", ...; and where it stands
 * ("" and 0 where it stands nowhere). */
BAWN_API const char *bawn_decision_rule(const struct bawn_decision *decision);
BAWN_API const char *bawn_decision_file(const struct bawn_decision *decision);
BAWN_API unsigned bawn_decision_line(const struct bawn_decision *decision);
BAWN_API unsigned bawn_decision_column(const struct bawn_decision *decision);
/* The resolved path, or the host as it was understood. */
BAWN_API const char *bawn_decision_target(const struct bawn_decision *decision);

/* The whole story: what was asked, how the path resolved, every rule that had a
 * say, the one that won, and what would change it. Free with free(). */
BAWN_API int bawn_explain(const struct bawn_policy *policy, enum bawn_operation operation,
                          const char *what, enum bawn_format format, char **ret_text,
                          struct bawn_error *err);
/* The story of bawn_decide_by. */
BAWN_API int bawn_explain_by(const struct bawn_policy *policy, const char *program,
                             const char *target, enum bawn_format format, char **ret_text,
                             struct bawn_error *err);

#ifdef __cplusplus
}
#endif
#endif
