/* SPDX-License-Identifier: Apache-2.0 */
/* BAWN_* variables: single values of a policy, between its files and the command line. */
#include "api/assembly.h"
#include "base/error.h"
#include "base/text.h"
#include "policy/build.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* "sandbox.limits.memory" is BAWN_LIMITS_MEMORY. */
static void variable_name(const char *key, char out[static 64])
{
    size_t used = 0;

    if (strncmp(key, "sandbox.", 8) == 0)
        key += 8;
    used = (size_t)snprintf(out, 64, "BAWN_%s", key);
    for (size_t i = 0; i < used && i < 63; i++)
        out[i] = out[i] == '.' ? '_' : (char)toupper((unsigned char)out[i]);
}

static void complain_variable(struct assembly *assembly, const char *name)
{
    char own[SETTING_COUNT][64];
    const char *known[SETTING_COUNT];
    const char *nearest;

    for (size_t id = 0; id < SETTING_COUNT; id++) {
        variable_name(setting_table[id].key, own[id]);
        known[id] = own[id];
    }
    nearest = text_nearest(name, known, SETTING_COUNT);
    report_add(assembly->report, BAWN_ERROR, "config.unknown_key",
               (struct origin){.file = assembly_keep(assembly, name)}, "no such variable");
    if (nearest)
        report_hint(assembly->report, "did you mean '%s'?", nearest);
}

static int load_variable(struct assembly *assembly, const struct config_source *source,
                         const char *variable)
{
    static const char *const other[] = {"BAWN_POLICY", "BAWN_SESSION"};
    char name[64];
    char candidate[64];
    size_t length = strcspn(variable, "=");

    (void)snprintf(name, sizeof(name), "%.*s", (int)(length < 63 ? length : 63), variable);
    if (strncmp(name, "BAWN_TEST_", 10) == 0 || variable[length] == '\0' ||
        variable[length + 1] == '\0')
        return 0;
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        if (strcmp(name, other[i]) == 0)
            return 0;
    if (strcmp(name, "BAWN_NETWORK") == 0)
        return config_set(source, "sandbox.network", variable + length + 1,
                          (struct origin){.file = assembly_keep(assembly, name)});
    for (size_t id = 0; id < SETTING_COUNT; id++) {
        variable_name(setting_table[id].key, candidate);
        if (strcmp(name, candidate) == 0)
            return config_set(source, setting_table[id].key, variable + length + 1,
                              (struct origin){.file = assembly_keep(assembly, name)});
    }
    complain_variable(assembly, name);
    return 0;
}

int assembly_load_variables(struct assembly *assembly)
{
    struct config_source source = {.policy = assembly->policy,
                                   .file = "environment",
                                   .base = assembly->policy->workspace,
                                   .report = assembly->report};

    for (char **variable = assembly->load->environ; *variable; variable++) {
        if (strncmp(*variable, "BAWN_", 5) != 0)
            continue;
        if (!source.layer)
            source.layer = policy_add_layer(assembly->policy, LAYER_ENVIRONMENT, AUTHORITY_USER,
                                            "environment", NULL, NULL);
        if (!source.layer || load_variable(assembly, &source, *variable) < 0)
            return error_memory(assembly->err);
    }
    return 0;
}
