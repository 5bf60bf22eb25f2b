/* SPDX-License-Identifier: Apache-2.0 */
/* Options that more than one verb takes. */
#ifndef VERBS_ROWS_H
#define VERBS_ROWS_H

#include "verbs/option.h"

/* The presets that there are, ended by NULL. */
extern const char *const preset_words[];

/* Which policy: shared by all verbs that load one. */
extern const struct option_group load_options;
/* Of these, --workspace alone. */
extern const struct option_group load_place;
/* How it runs: run and shell. */
extern const struct option_group run_options;
/* The same of exec. */
extern const struct option_group exec_options;
/* What is printed: plan. */
extern const struct option_group plan_options;
/* How it ends: stop. */
extern const struct option_group stop_options;
/* Which sessions: ps. */
extern const struct option_group ps_options;
/* What is shown: logs. */
extern const struct option_group logs_options;
/* The same: audit. */
extern const struct option_group audit_options;
/* What is answered: approve. */
extern const struct option_group approve_options;
/* For how long: wait. */
extern const struct option_group wait_options;
/* --help, --json, --quiet: every verb has them. */
extern const struct option_group verb_options;

#endif
