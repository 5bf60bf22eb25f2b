/* SPDX-License-Identifier: Apache-2.0 */
/* srt settings: reads are open but for what is denied, writes and hosts are lists. */
#include "config/foreign.h"
#include "policy/build.h"

static const struct foreign_row srt_rows[] = {
    {"allowPty", foreign_meaningless},
    {"mandatoryDenySearchDepth", foreign_meaningless},
    {"seccomp", foreign_meaningless},
    {"javaAgentJarPath", foreign_meaningless},
    {"git", foreign_unsupported},
    {"windows", foreign_meaningless},
    {NULL, NULL},
};

int format_srt_load(const struct config_source *source, const struct node *root)
{
    struct foreign foreign = {.source = source, .filesystem = node_get(root, "filesystem")};
    int r;

    if (root->kind != NODE_MAP) {
        source_wrong_type(source, root, "srt settings", "an object");
        return 0;
    }
    r = foreign_imply(&foreign, SETTING_READS, "static", root->origin);
    return r < 0 ? r : foreign_load(&foreign, root, "", foreign_common, srt_rows);
}
