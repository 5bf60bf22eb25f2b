/* SPDX-License-Identifier: Apache-2.0 */
/* The table of what each feature is good for, and the remedy that fits how it failed. */
#include "plan/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NOTHING FEATURE_COUNT

enum { LANDLOCK_ABI_FULL = 6 }; /* the last one that added something to enforce */

#define CONTAINER_FLAGS                                                                            \
    "    docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined \\\n"     \
    "        --security-opt systempaths=unconfined IMAGE\n"                                        \
    "    podman run --security-opt seccomp=unconfined --security-opt unmask=ALL IMAGE\n"

#define NEWER_KERNEL(version)                                                                      \
    "Use Linux " version " or newer. On such a kernel this failure comes from a filter around\n"   \
    "bawn (a container or another sandbox): run bawn outside of it."

/* What is told about a feature. level, costs and remedy are for when it is missing. */
struct feature_text {
    const char *name;
    const char *summary;
    enum finding_level level;
    enum feature needs;
    const char *costs;
    const char *remedy; /* unless the way it failed has a better one */
};

static const struct feature_text texts[FEATURE_COUNT] = {
    [FEATURE_USER_NS] =
        {"user_ns", "user namespaces: sandboxes without root", FINDING_BAD, NOTHING,
         "Without user namespaces the native sandbox cannot start: no own root directory, no own "
         "process list, no own network.",
         "Something around bawn refuses user namespaces: a security module, a chroot, or a kernel\n"
         "built without CONFIG_USER_NS. Run bawn outside of it."},
    [FEATURE_MOUNT_NS] =
        {"mount_ns", "mount namespaces: an own view of the files", FINDING_BAD, FEATURE_USER_NS,
         "Without mounts of its own the native sandbox cannot start: hidden files stay hidden "
         "because they are not mounted.",
         "A security module refuses mounts in user namespaces. Allow them for bawn."},
    [FEATURE_PIVOT_ROOT] =
        {"pivot_root", "pivot_root: an own root directory", FINDING_BAD, FEATURE_MOUNT_NS,
         "Without it the native sandbox cannot leave the host's root directory behind.",
         "This happens when / is the kernel's initial RAM disk or a security module refuses.\n"
         "Boot from a real root filesystem."},
    [FEATURE_PID_NS] = {"pid_ns", "PID namespaces: host processes are out of sight", FINDING_BAD,
                        FEATURE_USER_NS,
                        "Commands inside would see and could signal the user's other processes.",
                        "Use a kernel built with CONFIG_PID_NS."},
    [FEATURE_NET_NS] =
        {"net_ns", "network namespaces: no network but what is granted", FINDING_BAD,
         FEATURE_USER_NS,
         "The network could not be cut off: the host's interfaces would be reachable from inside.",
         "Use a kernel built with CONFIG_NET_NS. If the error is \"No space left on device\":\n"
         "    echo 'user.max_net_namespaces = 10000' | sudo tee /etc/sysctl.d/60-bawn.conf\n"
         "    sudo sysctl --system"},
    [FEATURE_IPC_NS] =
        {"ipc_ns", "IPC namespaces: shared memory is out of sight", FINDING_BAD, FEATURE_USER_NS,
         "System V shared memory and message queues of other programs would be reachable.",
         "Use a kernel built with CONFIG_IPC_NS."},
    [FEATURE_UTS_NS] = {"uts_ns", "UTS namespaces: an own host name", FINDING_WARN, FEATURE_USER_NS,
                        "The sandbox shows the host's own name.",
                        "Use a kernel built with CONFIG_UTS_NS."},
    [FEATURE_CGROUP_NS] = {"cgroup_ns", "cgroup namespaces: the group's place is hidden",
                           FINDING_WARN, FEATURE_USER_NS,
                           "The sandbox can see where in the host's control groups it runs.",
                           NEWER_KERNEL("4.6")},
    [FEATURE_TIME_NS] =
        {"time_ns", "time namespaces: an own uptime", FINDING_NOTE, FEATURE_USER_NS,
         "sandbox.process.time_ns cannot be had: the sandbox shows the host's uptime.",
         NEWER_KERNEL("5.6")},
    [FEATURE_OPEN_TREE] = {"open_tree", "open_tree: mounts by descriptor", FINDING_WARN,
                           FEATURE_MOUNT_NS,
                           "Without it somebody could swap a directory for a link while bawn "
                           "mounts it: bawn runs nothing.",
                           NEWER_KERNEL("5.2")},
    [FEATURE_MOUNT_SETATTR] =
        {"mount_setattr", "mount_setattr: read-only at one stroke", FINDING_WARN, FEATURE_MOUNT_NS,
         "bawn makes read-only trees mount by mount instead, which is slower.",
         NEWER_KERNEL("5.12")},
    [FEATURE_FRESH_PROC] =
        {"fresh_proc", "procfs: an own /proc", FINDING_WARN, FEATURE_MOUNT_NS,
         "bawn runs nothing. With --best-effort /proc has only files that tell about the machine, "
         "such as cpuinfo, and no processes: ps, top and programs that need /proc/self misbehave.",
         "The kernel refuses this where parts of /proc are covered, as in most containers. Start\n"
         "the container with:\n" CONTAINER_FLAGS},
    [FEATURE_DEVPTS] =
        {"devpts", "devpts: own pseudo-terminals", FINDING_WARN, FEATURE_MOUNT_NS,
         "Programs inside cannot open terminals of their own (script, tmux, expect).",
         "Use a kernel built with CONFIG_UNIX98_PTYS, outside of a sandbox that forbids mounts."},
    [FEATURE_OVERLAY] =
        {"overlay", "overlayfs: trees without their sockets, changes kept apart", FINDING_BAD,
         FEATURE_MOUNT_NS,
         "bawn cannot keep sockets of services below /opt, /srv, /usr/local and /var out of reach: "
         "it runs no policy that shows one of these. It cannot hold paths of mode overlay.",
         "Needs Linux 5.11 or newer with overlayfs. If it is a module:\n"
         "    sudo modprobe overlay\n"
         "    echo overlay | sudo tee /etc/modules-load.d/bawn.conf"},
    [FEATURE_IDMAP] =
        {"idmap", "id-mapped mounts: ownership is translated", FINDING_NOTE, FEATURE_MOUNT_NS,
         "When root runs bawn, files made inside may belong to another user id than wanted.",
         "Use Linux 5.12 or newer and a filesystem that supports them, such as ext4, XFS or "
         "btrfs."},
    [FEATURE_LANDLOCK] =
        {"landlock", "Landlock: a second wall around files and sockets", FINDING_BAD, NOTHING,
         "There is no second layer behind the mounts, nothing keeps abstract sockets and signals "
         "inside, and the landlock backend does not work.",
         "Needs Linux 5.13 or newer, built with CONFIG_SECURITY_LANDLOCK. In a container whose\n"
         "filter refuses it, start the container with:\n" CONTAINER_FLAGS
         "Inside a sandbox of bawn there is no Landlock, unless it was started with "
         "--allow-containers."},
    [FEATURE_SECCOMP] = {"seccomp", "seccomp: system calls are filtered", FINDING_BAD, NOTHING,
                         "No sandbox can start: dangerous system calls would stay open.",
                         "Use a kernel built with CONFIG_SECCOMP_FILTER."},
    [FEATURE_NOTIFY] = {"notify", "seccomp notification: bawn is asked", FINDING_BAD,
                        FEATURE_SECCOMP,
                        "bawn can decide nothing while a command runs: it cannot enforce rules "
                        "that say \"ask\", nor protect files that do not exist yet.",
                        NEWER_KERNEL("5.0")},
    [FEATURE_NOTIFY_ADDFD] = {"notify_addfd", "seccomp notification: bawn opens in place",
                              FINDING_WARN, FEATURE_NOTIFY,
                              "bawn cannot open approved files for the command: it can grant no "
                              "file outside the sandbox while the command runs.",
                              NEWER_KERNEL("5.14")},
    [FEATURE_NOTIFY_KILLABLE] =
        {"notify_killable", "seccomp notification: undisturbed by signals", FINDING_WARN,
         FEATURE_NOTIFY,
         "A signal can interrupt a call while bawn asks about it, so that bawn asks twice.",
         NEWER_KERNEL("5.19")},
    [FEATURE_PIDFD] =
        {"pidfd", "pidfds: processes by descriptor", FINDING_WARN, NOTHING,
         "bawn watches processes by number instead, which is slower and needs more care.",
         NEWER_KERNEL("5.3")},
    [FEATURE_TAKE_FD] = {"take_fd", "pidfd_getfd: sockets are bound by bawn", FINDING_WARN, NOTHING,
                         "A command can make a socket, though no other file, at a protected name.",
                         "A sandbox or a container around bawn refuses pidfd_getfd or setns. Let "
                         "its filter allow both;\n"
                         "if it is a sandbox of bawn, start that one with --debug."},
    [FEATURE_BAR] = {"bar", "socket filters: opaque hosts at full speed", FINDING_NOTE, NOTHING,
                     "Connections to hosts whose rule says opaque go through bawn-net, as all "
                     "others do: slower, and as safe.",
                     "Some kernels let nobody but root put a filter on a socket of TCP."},
    [FEATURE_OPENAT2] = {"openat2", "openat2: paths that cannot escape", FINDING_BAD, NOTHING,
                         "bawn cannot safely resolve paths that the command names, so it can "
                         "approve nothing by path.",
                         NEWER_KERNEL("5.6")},
    [FEATURE_CLOSE_RANGE] =
        {"close_range", "close_range: open files are not inherited", FINDING_WARN, NOTHING,
         "bawn closes inherited descriptors one by one instead, which is slower.",
         NEWER_KERNEL("5.9")},
    [FEATURE_CGROUP] =
        {"cgroup", "control groups: limits for the whole session", FINDING_BAD, NOTHING,
         "Memory and process limits hold for each process alone (rlimits), not for the session: "
         "a fork bomb or many small processes can still exhaust the machine.",
         NULL},
    [FEATURE_STEER] =
        {"nftables", "nf_tables: a filtered network", FINDING_WARN, FEATURE_NET_NS,
         "The network mode isolated does not work. In the mode proxy, programs that know of no "
         "proxy reach only the ports that rules name, 80 and 443, and are refused at others: a "
         "rule of nf_tables (tproxy) would bring all that the command sends to bawn-net.",
         "The kernel loads nf_tables and nft_tproxy by itself where it finds these modules. If it\n"
         "does not, load them at boot; for a container, on its host:\n"
         "    printf 'nf_tables\\nnft_tproxy\\n' | "
         "sudo tee /etc/modules-load.d/bawn-nft.conf\n"
         "    sudo modprobe -a nf_tables nft_tproxy\n"
         "A kernel that has no such modules must be built with CONFIG_NF_TABLES_INET and\n"
         "CONFIG_NFT_TPROXY."},
    [FEATURE_ANYIP] =
        {"anyip", "local routes: a filtered network without nf_tables", FINDING_WARN,
         FEATURE_NET_NS,
         "The network modes proxy and isolated do not work, and bawn runs no policy that wants one "
         "of them.",
         "A filter around bawn (a container or another sandbox) refuses routes of a network\n"
         "namespace of its own: let it allow netlink sockets, or run bawn outside of it."},
    [FEATURE_VETH] =
        {"veth", "veth and NAT: the network mode veth", FINDING_NOTE, FEATURE_NET_NS,
         "Only the network mode veth needs it: a pair of interfaces, rules of nf_tables that go "
         "with their owner (Linux 5.12), and a host that forwards packets.",
         "Let the host forward packets, and load the modules:\n"
         "    sudo sysctl -w net.ipv4.ip_forward=1\n"
         "    sudo modprobe -a veth nf_tables nft_masq nft_reject_inet nft_ct\n"
         "The mode isolated reaches the same hosts, and needs none of it."},
    [FEATURE_VETH_V6] =
        {"veth_v6", "IPv6 is forwarded: IPv6 in the network mode veth", FINDING_NOTE, FEATURE_VETH,
         "Only sandbox.network.ipv6 in the network mode veth needs it: a host that forwards "
         "packets "
         "of IPv6.",
         "Let the host forward them; it then is a router, and takes no route from others unless\n"
         "accept_ra is 2 for the interface that leads to them:\n"
         "    sudo sysctl -w net.ipv6.conf.all.forwarding=1\n"
         "The mode isolated reaches the same hosts, and needs none of it."},
    [FEATURE_TUN] =
        {"tun", "/dev/net/tun: engines, and networks for containers", FINDING_NOTE, NOTHING,
         "Only sandbox.network.engine and sandbox.process.containers need it: slirp4netns "
         "and pasta make their interfaces with it.",
         "Load the driver and let every user open the device:\n"
         "    sudo modprobe tun\n"
         "    sudo chmod 0666 /dev/net/tun   # as udev does on most systems"},
    [FEATURE_KVM] =
        {"kvm", "/dev/kvm: virtual machines inside", FINDING_NOTE, NOTHING,
         "Only sandbox.devices.kvm needs it.",
         "Load the driver (kvm_intel or kvm_amd) and enable virtualization in the firmware; in a\n"
         "virtual machine, enable nested virtualization on its host."},
    [FEATURE_FUSE] = {"fuse", "/dev/fuse: filesystems in user programs", FINDING_NOTE, NOTHING,
                      "Only sandbox.process.containers with fuse-overlayfs, and programs that "
                      "mount FUSE filesystems, "
                      "need it.",
                      "Load the driver and let every user open the device:\n"
                      "    sudo modprobe fuse\n"
                      "    sudo chmod 0666 /dev/fuse   # as udev does on most systems"},
    [FEATURE_SUBUID] =
        {"subuid", "subordinate ids: containers inside", FINDING_NOTE, NOTHING,
         "Only sandbox.process.containers needs them: rootless podman inside the sandbox runs with "
         "several user ids.",
         "Give your user a range that nobody else has in /etc/subuid and /etc/subgid:\n"
         "    sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 \"$USER\""},
};

static const char remedy_apparmor[] =
    "Ubuntu lets only programs with an AppArmor profile use user namespaces. Give bawn one: put\n"
    "this into /etc/apparmor.d/bawn (if bawn is installed elsewhere, name that path instead):\n"
    "\n"
    "    abi <abi/4.0>,\n"
    "    include <tunables/global>\n"
    "\n"
    "    profile bawn /usr/{,local/}bin/bawn flags=(unconfined) {\n"
    "      userns,\n"
    "\n"
    "      include if exists <local/bawn>\n"
    "    }\n"
    "\n"
    "and load it:\n"
    "    sudo apparmor_parser -r /etc/apparmor.d/bawn\n"
    "The restriction then stays in force for all other programs.";

static const char remedy_sysctl[] =
    "Allow user namespaces to ordinary users, now and after the next boot:\n"
    "    echo 'kernel.unprivileged_userns_clone = 1' | sudo tee /etc/sysctl.d/60-bawn.conf\n"
    "    sudo sysctl --system";

static const char remedy_limit[] =
    "The limit on user namespaces is used up or 0. Raise it, now and after the next boot:\n"
    "    echo 'user.max_user_namespaces = 15000' | sudo tee /etc/sysctl.d/60-bawn.conf\n"
    "    sudo sysctl --system\n"
    "If that changes nothing, bawn runs in a sandbox that set the limit for itself: run it\n"
    "outside of it.";

static const char remedy_container[] =
    "A filter around bawn refuses it, usually that of a container. Start the container "
    "with:\n" CONTAINER_FLAGS "If it is a sandbox of bawn's, start that one with:\n"
    "    bawn run --allow-containers";

static const char remedy_lsm[] =
    "The kernel has Landlock but does not start it. Add \"landlock\" to the list that\n"
    "    cat /sys/kernel/security/lsm\n"
    "shows, as a kernel boot parameter: in /etc/default/grub extend GRUB_CMDLINE_LINUX with\n"
    "    lsm=landlock,THE-LIST-SHOWN-ABOVE\n"
    "then run  sudo update-grub  and reboot.";

static const char remedy_busy_listener[] =
    "bawn runs inside a sandbox that uses seccomp notification itself (bawn in bawn, or a\n"
    "container with such a filter); the kernel allows one per process tree. Start the outer\n"
    "sandbox with --allow-containers, which then uses none, or run bawn outside of it.";

static const char remedy_cgroup_user[] =
    "Let systemd start bawn in a group that is delegated to you:\n"
    "    systemd-run --user --scope -p Delegate=yes bawn doctor\n"
    "bawn asks systemd for such a group by itself when your user manager runs and\n"
    "XDG_RUNTIME_DIR is set, as after a normal login; over su or cron it is not:\n"
    "    sudo loginctl enable-linger \"$USER\"\n"
    "    export XDG_RUNTIME_DIR=/run/user/$(id -u)\n"
    "If only cgroup v1 is mounted, boot with  systemd.unified_cgroup_hierarchy=1";

static const char remedy_cgroup_root[] =
    "Mount cgroup2 and let groups have the controllers:\n"
    "    mount -t cgroup2 cgroup2 /sys/fs/cgroup\n"
    "    echo '+memory +pids' > /sys/fs/cgroup/cgroup.subtree_control\n"
    "On a systemd machine that boots with cgroup v1, boot with\n"
    "    systemd.unified_cgroup_hierarchy=1";

static const char remedy_cgroup_container[] =
    "A container's control groups are usually read-only. Bound the container itself:\n"
    "    docker run --memory 4g --pids-limit 512 IMAGE\n"
    "    podman run --memory 4g --pids-limit 512 IMAGE\n"
    "or hand the groups in with  docker run --cgroupns=private --privileged  (trusted use only).";

static const char remedy_slow_modules[] =
    "Try again: the kernel was still loading modules. If it comes back, load them at boot:\n"
    "    printf 'nf_tables\\nnft_tproxy\\n' | sudo tee /etc/modules-load.d/bawn-nft.conf";

static const char remedy_kvm_group[] =
    "The device exists, but your user may not open it. Join its group and log in again:\n"
    "    sudo usermod -aG kvm \"$USER\"";

static const char remedy_newuidmap[] =
    "A range is assigned; the program that applies it is missing:\n"
    "    sudo apt install uidmap        # Debian, Ubuntu\n"
    "    sudo dnf install shadow-utils  # Fedora";

static bool is_refusal(int errnum)
{
    return errnum == EPERM || errnum == EACCES || errnum == ENOSYS;
}

static const char *remedy_for_userns(const struct host_facts *facts, const char *otherwise)
{
    switch (facts->userns_block) {
    case USERNS_SYSCTL:
        return remedy_sysctl;
    case USERNS_LIMIT:
        return remedy_limit;
    case USERNS_APPARMOR:
        return remedy_apparmor;
    case USERNS_SECCOMP:
        return remedy_container;
    case USERNS_OPEN:
    case USERNS_UNKNOWN:
        break;
    }
    return facts->in_container ? remedy_container : otherwise;
}

static const char *remedy_for_cgroup(const struct host_facts *facts)
{
    if (facts->in_container)
        return remedy_cgroup_container;
    return facts->uid == 0 ? remedy_cgroup_root : remedy_cgroup_user;
}

/* By how it failed, where that tells more than the table. */
static const char *remedy_for(const struct host_facts *facts, enum feature feature)
{
    const struct feature_fact *fact = &facts->features[feature];
    const char *usual = texts[feature].remedy;

    switch (feature) {
    case FEATURE_USER_NS:
    case FEATURE_MOUNT_NS:
        return remedy_for_userns(facts, usual);
    case FEATURE_LANDLOCK:
        return fact->errnum == EOPNOTSUPP ? remedy_lsm : usual;
    case FEATURE_NOTIFY:
        return fact->errnum == EBUSY ? remedy_busy_listener : usual;
    case FEATURE_CGROUP:
        return remedy_for_cgroup(facts);
    case FEATURE_STEER:
    case FEATURE_ANYIP:
        if (fact->errnum == ETIMEDOUT || fact->errnum == ESTALE)
            return remedy_slow_modules;
        return facts->in_container && is_refusal(fact->errnum) ? remedy_container : usual;
    case FEATURE_KVM:
        return fact->errnum == EACCES || fact->errnum == EPERM ? remedy_kvm_group : usual;
    case FEATURE_SUBUID:
        return strcmp(fact->step, "newuidmap") == 0 ? remedy_newuidmap : usual;
    case FEATURE_PIVOT_ROOT:
    case FEATURE_PID_NS:
    case FEATURE_NET_NS:
    case FEATURE_IPC_NS:
        return facts->in_container && is_refusal(fact->errnum) ? remedy_container : usual;
    default:
        return usual;
    }
}

/* What is lost without nf_tables depends on what else there is. */
static const char *costs_for(const struct host_facts *facts, enum feature feature)
{
    if (feature == FEATURE_STEER && !facts->features[FEATURE_ANYIP].available)
        return texts[FEATURE_ANYIP].costs;
    return texts[feature].costs;
}

const char *facts_feature_name(enum feature feature)
{
    return texts[feature].name;
}

const char *facts_feature_summary(enum feature feature)
{
    return texts[feature].summary;
}

enum feature facts_feature_needs(enum feature feature)
{
    return texts[feature].needs;
}

const char *facts_error_text(int errnum)
{
    /* Not strerror: what is shown must not depend on the locale. */
    const char *text = strerrordesc_np(errnum);

    return text ? text : "unknown error";
}

static void describe(const struct host_facts *facts, enum feature feature, struct finding *finding)
{
    const struct feature_fact *fact = &facts->features[feature];

    memset(finding, 0, sizeof(*finding));
    finding->id = texts[feature].name;
    finding->title = texts[feature].summary;
    finding->costs = "";
    finding->remedy = "";
    if (fact->available) {
        (void)snprintf(finding->detail, sizeof(finding->detail), "works");
        return;
    }
    finding->level = texts[feature].level;
    finding->costs = costs_for(facts, feature);
    finding->remedy = remedy_for(facts, feature);
    if (fact->errnum)
        (void)snprintf(finding->detail, sizeof(finding->detail), "%s: %s",
                       fact->step[0] ? fact->step : "tried", facts_error_text(fact->errnum));
    else
        (void)snprintf(finding->detail, sizeof(finding->detail), "not available");
}

/* Landlock is there, but an early one. False when it has all that is wanted. */
static bool describe_old_landlock(const struct host_facts *facts, struct finding *finding)
{
    static const char *const lacks[LANDLOCK_ABI_FULL] = {
        [1] = "moving files between directories, truncation, TCP, device control, scopes",
        [2] = "truncation, TCP, device control, scopes",
        [3] = "TCP, device control, scopes",
        [4] = "device control, scopes",
        [5] = "scopes of abstract sockets and signals",
    };

    if (facts->landlock_abi < 1 || facts->landlock_abi >= LANDLOCK_ABI_FULL)
        return false;
    memset(finding, 0, sizeof(*finding));
    finding->id = "landlock_abi";
    finding->level = FINDING_WARN;
    finding->title = "Landlock is an early version";
    (void)snprintf(finding->detail, sizeof(finding->detail), "ABI %d does not cover: %s",
                   facts->landlock_abi, lacks[facts->landlock_abi]);
    finding->costs =
        "The second layer has these gaps. In the native sandbox mounts, namespaces and "
        "the system call filter still hold; the landlock backend cannot enforce rules "
        "about them.";
    finding->remedy = "Use Linux 6.12 or newer.";
    return true;
}

/* Whether there is anything to say: not where the cause is another finding. */
static bool is_worth_telling(const struct host_facts *facts, enum feature feature)
{
    enum feature needs = texts[feature].needs;

    if (facts->features[feature].available)
        return true;
    /* Only who owns the filesystem can map its ids, and who owns the host's network can use that;
     * an ordinary user has no use for either. */
    if ((feature == FEATURE_IDMAP || feature == FEATURE_VETH || feature == FEATURE_VETH_V6) &&
        facts->uid != 0)
        return false;
    return needs == NOTHING || facts->features[needs].available;
}

size_t doctor_examine(const struct host_facts *facts, struct finding *ret_findings, size_t size)
{
    size_t count = 0;

    for (int i = 0; i < FEATURE_COUNT; i++) {
        struct finding finding;

        if (!is_worth_telling(facts, (enum feature)i))
            continue;
        describe(facts, (enum feature)i, &finding);
        if (count < size)
            ret_findings[count] = finding;
        count++;
        if (i == FEATURE_LANDLOCK && describe_old_landlock(facts, &finding)) {
            if (count < size)
                ret_findings[count] = finding;
            count++;
        }
    }
    return count;
}
