/* SPDX-License-Identifier: Apache-2.0 */
/* The doctor: crafted host facts in, the exact remedy out. */
#include "lib/test.h"
#include "plan/doctor.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A host on which everything works, for an ordinary user. */
static struct host_facts healthy(void)
{
    struct host_facts facts = {.sysname = "Linux",
                               .release = "6.12.0",
                               .machine = "x86_64",
                               .uid = 1000,
                               .gid = 1000,
                               .landlock_abi = 6,
                               .cgroup = CGROUP_V2,
                               .cpus = 4,
                               .memory_bytes = 8ULL << 30};

    for (int i = 0; i < FEATURE_COUNT; i++)
        facts.features[i].available = true;
    facts.backends[BACKEND_NATIVE].available = true;
    facts.backends[BACKEND_LANDLOCK].available = true;
    return facts;
}

static void take_away(struct host_facts *facts, enum feature feature, int errnum, const char *step)
{
    facts->features[feature] = (struct feature_fact){.errnum = errnum};
    (void)snprintf(facts->features[feature].step, sizeof(facts->features[feature].step), "%s",
                   step);
}

/* Takes user namespaces away, and with them all that is only tried inside one. */
static void take_userns(struct host_facts *facts, int errnum, enum userns_block block)
{
    for (int i = 0; i < FEATURE_COUNT; i++)
        for (enum feature f = (enum feature)i; f != FEATURE_COUNT; f = facts_feature_needs(f))
            if (f == FEATURE_USER_NS)
                facts->features[i] = (struct feature_fact){0};
    take_away(facts, FEATURE_USER_NS, errnum, "unshare");
    facts->userns_block = block;
    facts->backends[BACKEND_NATIVE].available = false;
    (void)snprintf(facts->backends[BACKEND_NATIVE].reason,
                   sizeof(facts->backends[BACKEND_NATIVE].reason), "needs user namespaces");
}

/* The finding with this id; its level must not be OK. */
static struct finding complaint(const struct host_facts *facts, const char *id)
{
    struct finding findings[FINDINGS_MAX];
    size_t count = doctor_examine(facts, findings, FINDINGS_MAX);

    ck_assert_uint_le(count, FINDINGS_MAX);
    for (size_t i = 0; i < count; i++)
        if (strcmp(findings[i].id, id) == 0) {
            ck_assert_int_ne(findings[i].level, FINDING_OK);
            ck_assert_str_ne(findings[i].costs, "");
            return findings[i];
        }
    ck_abort_msg("no finding %s", id);
}

static size_t count_complaints(const struct host_facts *facts)
{
    struct finding findings[FINDINGS_MAX];
    size_t count = doctor_examine(facts, findings, FINDINGS_MAX);
    size_t complaints = 0;

    for (size_t i = 0; i < count; i++)
        complaints += findings[i].level != FINDING_OK;
    return complaints;
}

static void assert_contains(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "\"%s\" is not in:\n%s", part, text);
}

START_TEST(every_feature_has_a_name_a_price_and_a_remedy)
{
    enum feature feature = (enum feature)_i;
    struct host_facts facts = healthy();
    struct finding finding;

    facts.uid = 0;
    take_away(&facts, feature, ENOSYS, "some call");
    finding = complaint(&facts, facts_feature_name(feature));
    ck_assert_str_ne(facts_feature_name(feature), "");
    ck_assert_str_eq(finding.title, facts_feature_summary(feature));
    ck_assert_str_eq(finding.detail, "some call: Function not implemented");
    ck_assert_str_ne(finding.remedy, "");
    ck_assert_uint_eq(count_complaints(&facts), 1);
}
END_TEST

START_TEST(healthy_host_has_no_complaints)
{
    struct host_facts facts = healthy();
    char *text = NULL;

    ck_assert_uint_eq(count_complaints(&facts), 0);
    ck_assert_int_eq(doctor_print(&facts, BAWN_FORMAT_TEXT, &text, NULL), 0);
    assert_contains(text, "The native sandbox works here at full strength.");
    assert_contains(text, "34 of 34 checks passed");
    free(text);
}
END_TEST

START_TEST(apparmor_restriction_gives_the_profile_of_this_one_program)
{
    struct host_facts facts = healthy();
    const char *remedy;

    take_userns(&facts, EPERM, USERNS_APPARMOR);
    remedy = complaint(&facts, "user_ns").remedy;
    assert_contains(remedy, "/etc/apparmor.d/bawn");
    assert_contains(remedy, "    abi <abi/4.0>,\n"
                            "    include <tunables/global>\n"
                            "\n"
                            "    profile bawn /usr/{,local/}bin/bawn flags=(unconfined) {\n"
                            "      userns,\n"
                            "\n"
                            "      include if exists <local/bawn>\n"
                            "    }\n");
    assert_contains(remedy, "sudo apparmor_parser -r /etc/apparmor.d/bawn");
    ck_assert_ptr_null(strstr(remedy, "apparmor_restrict_unprivileged_userns"));
}
END_TEST

START_TEST(mounts_refused_by_apparmor_get_the_same_profile)
{
    struct host_facts facts = healthy();

    take_away(&facts, FEATURE_MOUNT_NS, EACCES, "mount tmpfs");
    facts.userns_block = USERNS_APPARMOR;
    assert_contains(complaint(&facts, "mount_ns").remedy, "apparmor_parser -r");
}
END_TEST

START_TEST(userns_sysctl_gives_a_file_in_sysctl_d)
{
    struct host_facts facts = healthy();

    take_userns(&facts, EPERM, USERNS_SYSCTL);
    assert_contains(complaint(&facts, "user_ns").remedy,
                    "echo 'kernel.unprivileged_userns_clone = 1' | "
                    "sudo tee /etc/sysctl.d/60-bawn.conf\n    sudo sysctl --system");
}
END_TEST

START_TEST(userns_limit_gives_a_file_in_sysctl_d)
{
    struct host_facts facts = healthy();

    take_userns(&facts, ENOSPC, USERNS_LIMIT);
    assert_contains(complaint(&facts, "user_ns").remedy,
                    "echo 'user.max_user_namespaces = 15000' | "
                    "sudo tee /etc/sysctl.d/60-bawn.conf\n    sudo sysctl --system");
}
END_TEST

START_TEST(container_filter_gives_flags_and_those_of_our_own)
{
    struct host_facts facts = healthy();
    const char *remedy;

    take_userns(&facts, EPERM, USERNS_SECCOMP);
    remedy = complaint(&facts, "user_ns").remedy;
    assert_contains(remedy, "docker run --security-opt seccomp=unconfined");
    assert_contains(remedy, "podman run --security-opt seccomp=unconfined");
    assert_contains(remedy, "bawn run --allow-containers");
}
END_TEST

START_TEST(one_cause_is_told_once)
{
    struct host_facts facts = healthy();
    char *text = NULL;

    take_userns(&facts, EPERM, USERNS_SYSCTL);
    ck_assert_uint_eq(count_complaints(&facts), 1);
    ck_assert_int_eq(doctor_print(&facts, BAWN_FORMAT_TEXT, &text, NULL), 1);
    assert_contains(text, "The native sandbox cannot run here: it needs user namespaces.\n"
                          "No other backend can take its place: bawn refuses to run commands.\n");
    free(text);
}
END_TEST

START_TEST(landlock_that_was_not_started_gives_the_boot_parameter)
{
    struct host_facts facts = healthy();

    take_away(&facts, FEATURE_LANDLOCK, EOPNOTSUPP, "landlock_create_ruleset");
    facts.landlock_abi = 0;
    assert_contains(complaint(&facts, "landlock").remedy, "lsm=landlock,");
}
END_TEST

START_TEST(missing_landlock_gives_the_kernel_version)
{
    struct host_facts facts = healthy();

    take_away(&facts, FEATURE_LANDLOCK, ENOSYS, "landlock_create_ruleset");
    facts.landlock_abi = 0;
    assert_contains(complaint(&facts, "landlock").remedy, "Linux 5.13");
    ck_assert_uint_eq(count_complaints(&facts), 1);
}
END_TEST

START_TEST(early_landlock_is_a_warning_that_names_the_gaps)
{
    struct host_facts facts = healthy();
    struct finding finding;

    facts.landlock_abi = 2;
    finding = complaint(&facts, "landlock_abi");
    ck_assert_int_eq(finding.level, FINDING_WARN);
    ck_assert_str_eq(finding.detail,
                     "ABI 2 does not cover: truncation, TCP, device control, scopes");
    assert_contains(finding.remedy, "6.12");
}
END_TEST

START_TEST(missing_subuid_gives_the_usermod_command)
{
    struct host_facts facts = healthy();
    struct finding finding;

    take_away(&facts, FEATURE_SUBUID, ENOENT, "/etc/subuid");
    finding = complaint(&facts, "subuid");
    ck_assert_int_eq(finding.level, FINDING_NOTE);
    assert_contains(finding.remedy,
                    "sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535");
    take_away(&facts, FEATURE_SUBUID, ENOENT, "newuidmap");
    assert_contains(complaint(&facts, "subuid").remedy, "apt install uidmap");
}
END_TEST

START_TEST(missing_cgroup_gives_the_remedy_of_who_asks)
{
    struct host_facts facts = healthy();

    take_away(&facts, FEATURE_CGROUP, EACCES, "mkdir of a group");
    facts.cgroup = CGROUP_NONE;
    assert_contains(complaint(&facts, "cgroup").remedy,
                    "systemd-run --user --scope -p Delegate=yes bawn doctor");
    facts.uid = 0;
    assert_contains(complaint(&facts, "cgroup").remedy, "cgroup.subtree_control");
    facts.in_container = true;
    assert_contains(complaint(&facts, "cgroup").remedy, "--pids-limit");
}
END_TEST

START_TEST(kvm_without_the_right_gives_the_group)
{
    struct host_facts facts = healthy();

    take_away(&facts, FEATURE_KVM, EACCES, "/dev/kvm");
    assert_contains(complaint(&facts, "kvm").remedy, "sudo usermod -aG kvm");
    take_away(&facts, FEATURE_KVM, ENOENT, "/dev/kvm");
    assert_contains(complaint(&facts, "kvm").remedy, "kvm_intel");
}
END_TEST

START_TEST(filtered_network_that_fails_gives_the_remedy_of_how_it_failed)
{
    struct host_facts facts = healthy();
    struct finding finding;

    take_away(&facts, FEATURE_STEER, ENOENT, "steer connections by nf_tables");
    finding = complaint(&facts, "nftables");
    ck_assert_int_eq(finding.level, FINDING_WARN);
    assert_contains(finding.costs, "The network mode isolated does not work");
    assert_contains(finding.costs, "only the ports that rules name, 80 and 443");
    assert_contains(finding.remedy, "sudo modprobe -a nf_tables nft_tproxy");
    take_away(&facts, FEATURE_STEER, ETIMEDOUT, "time limit");
    assert_contains(complaint(&facts, "nftables").remedy, "Try again");
    take_away(&facts, FEATURE_STEER, EPERM, "steer connections by nf_tables");
    assert_contains(complaint(&facts, "nftables").remedy, "modprobe");
    facts.in_container = true;
    assert_contains(complaint(&facts, "nftables").remedy, "docker run --security-opt");
}
END_TEST

START_TEST(filtered_network_without_routes_is_none)
{
    struct host_facts facts = healthy();

    take_away(&facts, FEATURE_STEER, EPERM, "make every address local");
    take_away(&facts, FEATURE_ANYIP, EPERM, "make every address local");
    assert_contains(complaint(&facts, "nftables").costs, "proxy and isolated do not work");
    assert_contains(complaint(&facts, "anyip").costs, "proxy and isolated do not work");
    assert_contains(complaint(&facts, "anyip").remedy, "netlink");
    take_away(&facts, FEATURE_ANYIP, ESTALE, "do without nf_tables");
    assert_contains(complaint(&facts, "anyip").remedy, "Try again");
}
END_TEST

START_TEST(second_listener_is_told_from_an_old_kernel)
{
    struct host_facts facts = healthy();

    take_away(&facts, FEATURE_NOTIFY, EBUSY, "seccomp(NEW_LISTENER)");
    assert_contains(complaint(&facts, "notify").remedy, "one per process tree");
    take_away(&facts, FEATURE_NOTIFY, EINVAL, "seccomp(NEW_LISTENER)");
    assert_contains(complaint(&facts, "notify").remedy, "Linux 5.0");
}
END_TEST

START_TEST(ordinary_user_is_not_bothered_with_idmapped_mounts)
{
    struct host_facts facts = healthy();

    take_away(&facts, FEATURE_IDMAP, EPERM, "mount_setattr");
    ck_assert_uint_eq(count_complaints(&facts), 0);
}
END_TEST

START_TEST(examine_never_writes_past_the_end)
{
    struct host_facts facts = {.landlock_abi = 1};
    struct finding findings[2] = {{.id = "untouched"}, {.id = "untouched"}};

    ck_assert_uint_gt(doctor_examine(&facts, findings, 1), 1);
    ck_assert_str_eq(findings[0].id, "user_ns");
    ck_assert_str_eq(findings[1].id, "untouched");
}
END_TEST

START_TEST(detect_lists_backends_with_version_or_reason)
{
    struct host_facts facts = healthy();
    char *text = NULL;

    (void)snprintf(facts.backends[BACKEND_LANDLOCK].version,
                   sizeof(facts.backends[BACKEND_LANDLOCK].version), "ABI 6");
    (void)snprintf(facts.backends[BACKEND_SEATBELT].reason,
                   sizeof(facts.backends[BACKEND_SEATBELT].reason), "needs macOS");
    take_away(&facts, FEATURE_FUSE, EACCES, "/dev/fuse");
    ck_assert_int_eq(host_print(&facts, BAWN_FORMAT_TEXT, &text, NULL), 0);
    assert_contains(
        text, "\n  landlock    yes ABI 6: works here, but bawn starts no commands with it yet\n");
    assert_contains(text, "\n  seatbelt    no  needs macOS\n");
    assert_contains(text, "(ABI 6)\n");
    assert_contains(text, "\n  fuse            no  ");
    assert_contains(text, "(/dev/fuse: Permission denied)\n");
    free(text);
}
END_TEST

START_TEST(json_has_the_same_facts)
{
    struct host_facts facts = healthy();
    char *text = NULL;

    take_userns(&facts, EPERM, USERNS_APPARMOR);
    ck_assert_int_eq(host_print(&facts, BAWN_FORMAT_JSON, &text, NULL), 0);
    assert_contains(text, "\"user_namespaces\": \"apparmor\"");
    assert_contains(text, "\"native\": {\"available\": false, \"version\": null, "
                          "\"usable\": false, \"reason\": \"needs user namespaces\"}");
    assert_contains(text, "{\"ok\": false, \"best\": null, ");
    assert_contains(text, "\"user_ns\": {\"available\": false, \"step\": \"unshare\", "
                          "\"errno\": \"EPERM\"}");
    free(text);
    ck_assert_int_eq(doctor_print(&facts, BAWN_FORMAT_JSON, &text, NULL), 1);
    assert_contains(text, "\"backend\": null");
    assert_contains(text, "\"problems\": 1");
    assert_contains(text, "{\"id\": \"user_ns\", \"level\": \"problem\"");
    assert_contains(text, "profile bawn /usr/{,local/}bin/bawn flags=(unconfined) {\\n");
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("doctor");
    TCase *remedies = tcase_create("remedies");
    TCase *printing = tcase_create("printing");

    tcase_add_loop_test(remedies, every_feature_has_a_name_a_price_and_a_remedy, 0, FEATURE_COUNT);
    tcase_add_test(remedies, healthy_host_has_no_complaints);
    tcase_add_test(remedies, apparmor_restriction_gives_the_profile_of_this_one_program);
    tcase_add_test(remedies, mounts_refused_by_apparmor_get_the_same_profile);
    tcase_add_test(remedies, userns_sysctl_gives_a_file_in_sysctl_d);
    tcase_add_test(remedies, userns_limit_gives_a_file_in_sysctl_d);
    tcase_add_test(remedies, container_filter_gives_flags_and_those_of_our_own);
    tcase_add_test(remedies, one_cause_is_told_once);
    tcase_add_test(remedies, landlock_that_was_not_started_gives_the_boot_parameter);
    tcase_add_test(remedies, missing_landlock_gives_the_kernel_version);
    tcase_add_test(remedies, early_landlock_is_a_warning_that_names_the_gaps);
    tcase_add_test(remedies, missing_subuid_gives_the_usermod_command);
    tcase_add_test(remedies, missing_cgroup_gives_the_remedy_of_who_asks);
    tcase_add_test(remedies, kvm_without_the_right_gives_the_group);
    tcase_add_test(remedies, filtered_network_that_fails_gives_the_remedy_of_how_it_failed);
    tcase_add_test(remedies, filtered_network_without_routes_is_none);
    tcase_add_test(remedies, second_listener_is_told_from_an_old_kernel);
    tcase_add_test(remedies, ordinary_user_is_not_bothered_with_idmapped_mounts);
    tcase_add_test(remedies, examine_never_writes_past_the_end);
    suite_add_tcase(suite, remedies);
    tcase_add_test(printing, detect_lists_backends_with_version_or_reason);
    tcase_add_test(printing, json_has_the_same_facts);
    suite_add_tcase(suite, printing);
    return test_run(suite, "doctor");
}
