/* SPDX-License-Identifier: Apache-2.0 */
/* A policy back into text of a format. */
#ifndef CONFIG_EXPORT_H
#define CONFIG_EXPORT_H

#include "base/strbuf.h"
#include "policy/model.h"

/* with_builtin: also what the profile and presets brought; the built-in lists stay built in. */
void export_bawn(const struct policy *policy, bool with_builtin, struct strbuf *out);

/* What the format cannot say is a warning. */
void export_claude(const struct policy *policy, struct bawn_report *report,
                   struct strbuf *ret_text);
void export_srt(const struct policy *policy, struct bawn_report *report, struct strbuf *out);

#endif
