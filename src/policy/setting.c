/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/setting.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "policy/proxy.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static const char *const audit_words[] = {"required", "on", "off", NULL};
static const char *const reads_words[] = {"strict", "dynamic", "static", NULL};
static const char *const network_words[] = {"none", "proxy", "isolated", "veth", "host", NULL};
static const char *const engine_words[] = {"bawn", "slirp4netns", "pasta", NULL};
static const char *const home_words[] = {"none", "private", "keep", NULL};
static const char *const repository_words[] = {"none", "auto", NULL};
static const char *const late_words[] = {"held", "watch", NULL};
static const char *const unlisted_words[] = {"deny", "ask", NULL};
static const char *const limits_words[] = {"strict", "default", "none", NULL};

#define MAX_COUNT (1ULL << 40)

const struct setting_info setting_table[SETTING_COUNT] = {
    [SETTING_PROFILE] = {"profile", VALUE_TEXT, NARROW_NEVER, 0, NULL,
                         "The built-in profile to start from: default, strict, static, "
                         "overlay, untrusted or none."},
    [SETTING_ASK_TIMEOUT] =
        {"sandbox.ask_timeout", VALUE_SECONDS, NARROW_LOWER, 0, NULL,
         "How long a question waits for an answer: the command waits too. Then the answer is no. "
         "Default: 5m. Where nobody can be asked it is no at once."},
    [SETTING_AUDIT] = {"audit", VALUE_WORD, NARROW_LOWER, 0, audit_words,
                       "Whether bawn records what each session was refused, how it began and how "
                       "it ended; 'bawn audit' shows it. on: where that cannot be written bawn "
                       "says so, and the command runs all the same. required: then nothing is "
                       "run, and a command that runs is ended. off: nothing is recorded. Default: "
                       "on; but required where the org has a policy that does not say otherwise, "
                       "and then no other layer can change it."},
    [SETTING_READS] = {"sandbox.reads", VALUE_WORD, NARROW_LOWER, 0, reads_words,
                       "What happens to reads that no rule names: strict denies them, dynamic "
                       "asks about each file and directory that is opened, static allows them "
                       "(secrets stay denied). With dynamic what lies outside is shown, and run "
                       "only after a yes; every open takes several times as long. /sys is then "
                       "empty but for what rules list: programs look there whenever they start. "
                       "Default: strict."},
    [SETTING_REQUIRE_OS_SANDBOX] = {"sandbox.require_os_sandbox", VALUE_BOOL, NARROW_HIGHER, 0,
                                    NULL,
                                    "false: run even where this host cannot hold the whole policy, "
                                    "as with --best-effort. Default: true."},
    [SETTING_NETWORK_MODE] =
        {"sandbox.network.mode", VALUE_WORD, NARROW_LOWER, 0, network_words,
         "none: own loopback only; proxy: filtered by the rules below; "
         "isolated: every public address; veth: the same for root, by a pair of interfaces and "
         "the host's NAT, without rules on hosts; host: no boundary."},
    [SETTING_NETWORK_UNLISTED] = {"sandbox.network.unlisted", VALUE_WORD, NARROW_LOWER, 0,
                                  unlisted_words,
                                  "What happens in proxy mode to hosts that no rule names. ask: a "
                                  "connection waits until somebody answers."},
    [SETTING_NETWORK_LOCAL_BINDING] = {"sandbox.network.allow_local_binding", VALUE_BOOL,
                                       NARROW_LOWER, 0, NULL,
                                       "false: the command cannot listen on a port of the host. "
                                       "Its own network holds that. With mode host nothing does."},
    [SETTING_NETWORK_PROXY_ENV] =
        {"sandbox.network.proxy_env", VALUE_BOOL, NARROW_LOWER, 0, NULL,
         "Whether bawn sets the variables that tell programs of a proxy (http_proxy, NO_PROXY and "
         "the like) in the modes proxy and isolated. Programs that do not read them are filtered "
         "all the same. Default: true, but false with sandbox.process.containers, because podman "
         "hands them on to containers that cannot reach the proxy. A variable that env.set sets, "
         "or that env.pass names in full, is as the policy says."},
    [SETTING_NETWORK_HTTP_PROXY_PORT] = {"sandbox.network.http_proxy_port", VALUE_PORT,
                                         NARROW_NEVER, 0, NULL,
                                         "The proxy variables name this HTTP proxy on the host's "
                                         "loopback instead of bawn's own. bawn does not judge what "
                                         "programs ask it for, and all other connections as ever."},
    [SETTING_NETWORK_SOCKS_PROXY_PORT] = {"sandbox.network.socks_proxy_port", VALUE_PORT,
                                          NARROW_NEVER, 0, NULL, "The same for a SOCKS5 proxy."},
    [SETTING_NETWORK_UPSTREAM_PROXY] =
        {"sandbox.network.upstream_proxy", VALUE_PROXY, NARROW_NEVER, 0, NULL,
         "http://HOST:PORT: in the modes proxy and isolated every TCP connection to a host that "
         "the "
         "rules allow goes through this HTTP proxy (CONNECT), which looks the name up. Connections "
         "to the host's loopback do not, nor does what sandbox.network.upstream_no_proxy lists, "
         "nor "
         "UDP in the mode isolated. A user and a password are not part of it: a policy is shown "
         "and "
         "shared. If the proxy wants them, write USER:PASSWORD to ~/.config/bawn/proxy-login, mode "
         "600; bawn sends them as Basic, and every policy hides that file. bawn does not read the "
         "proxy from HTTPS_PROXY. Only the user, the org and the command line can set it."},
    [SETTING_NETWORK_ENGINE] =
        {"sandbox.network.engine", VALUE_WORD, NARROW_NEVER, 0, engine_words,
         "What leads out in the mode isolated. bawn: bawn-net, with rules on hosts. slirp4netns, "
         "pasta: that program gives the sandbox an interface and translates its addresses (NAT), "
         "without rules on hosts; it needs /dev/net/tun. Default: bawn. Only the user, the org and "
         "the command line can set it."},
    [SETTING_NETWORK_ENGINE_PATH] =
        {"sandbox.network.engine_path", VALUE_PLACE, NARROW_NEVER, 0, NULL,
         "Where that program is. The command must not be able to write it. Default: /usr/bin and "
         "its name. Only the user, the org and the command line can set it."},
    [SETTING_NETWORK_CIDR] =
        {"sandbox.network.cidr", VALUE_SUBNET, NARROW_NEVER, 0, NULL,
         "Private addresses of the sandbox's interface. In the mode veth four, as in 10.9.8.4/30; "
         "default: some to which the host has no route. With sandbox.network.engine a network of "
         "/16 to /25; default: 10.0.2.0/24. Elsewhere there is no interface."},
    [SETTING_NETWORK_MTU] = {"sandbox.network.mtu", VALUE_MTU, NARROW_NEVER, 0, NULL,
                             "The largest packet of that interface in bytes. Default: 1500 in the "
                             "mode veth, else the engine's own."},
    [SETTING_NETWORK_IPV6] =
        {"sandbox.network.ipv6", VALUE_BOOL, NARROW_LOWER, 0, NULL,
         "true: with sandbox.network.engine, and in the mode veth, the command reaches public IPv6 "
         "addresses, too, but for the networks that the host's own addresses are in. false: "
         "nothing of IPv6 leaves there. bawn refuses it with any other network, because bawn-net "
         "reaches IPv6 hosts in any case. Default: false, because neighbours have public addresses "
         "there, and many hosts have no IPv6."},
    [SETTING_NETWORK_AUTHZ_PORT] =
        {"sandbox.network.authz_port", VALUE_PORT, NARROW_NEVER, 0, NULL,
         "A port of the host's loopback that the command may connect to, "
         "as with sandbox.network.host_ports: the service that "
         "authorizes it for a proxy of the host's. bawn asks it nothing "
         "itself."},
    [SETTING_LIMITS_PRESET] = {"sandbox.limits.preset", VALUE_WORD, NARROW_LOWER, 0, limits_words,
                               "strict: 1024 processes, 2 GiB of memory, 80 % of one CPU; default: "
                               "scaled to the machine; none: only the limits named here."},
    [SETTING_LIMITS_PIDS] = {"sandbox.limits.pids", VALUE_COUNT, NARROW_LOWER, 1ULL << 22, NULL,
                             "How many processes and threads the command may have."},
    [SETTING_LIMITS_MEMORY_HIGH] = {"sandbox.limits.memory_high", VALUE_SIZE, NARROW_LOWER, 0, NULL,
                                    "Memory above which the kernel slows the command down."},
    [SETTING_LIMITS_MEMORY] = {"sandbox.limits.memory", VALUE_SIZE, NARROW_LOWER, 0, NULL,
                               "Memory above which bawn or the kernel kills the command."},
    [SETTING_LIMITS_CPU] = {"sandbox.limits.cpu", VALUE_PERCENT, NARROW_LOWER, 1000000, NULL,
                            "CPU time in percent of one CPU: 150 is one and a half."},
    [SETTING_LIMITS_IO_WEIGHT] = {"sandbox.limits.io_weight", VALUE_COUNT, NARROW_LOWER, 10000,
                                  NULL, "Share of disk time, 1 to 10000; 100 is ordinary."},
    [SETTING_LIMITS_IO_READ_BYTES] =
        {"sandbox.limits.io_read_bytes", VALUE_SIZE, NARROW_LOWER, 0, NULL,
         "Bytes per second that the command may read from the disk that the workspace is on. What "
         "the kernel has in memory is not counted, nor are other disks."},
    [SETTING_LIMITS_IO_WRITE_BYTES] =
        {"sandbox.limits.io_write_bytes", VALUE_SIZE, NARROW_LOWER, 0, NULL,
         "The same for writing. cgroup v1 cannot hold it, nor cgroup v2 on file systems other than "
         "ext4, xfs and f2fs: there only direct writes (O_DIRECT) are slowed down."},
    [SETTING_LIMITS_IO_READ_OPS] = {"sandbox.limits.io_read_ops", VALUE_COUNT, NARROW_LOWER,
                                    UINT32_MAX, NULL,
                                    "Reads per second from that disk, whatever their size."},
    [SETTING_LIMITS_IO_WRITE_OPS] = {"sandbox.limits.io_write_ops", VALUE_COUNT, NARROW_LOWER,
                                     UINT32_MAX, NULL,
                                     "Writes per second to that disk, where io_write_bytes can be "
                                     "held, too."},
    [SETTING_LIMITS_OPEN_FILES] = {"sandbox.limits.open_files", VALUE_COUNT, NARROW_LOWER,
                                   1ULL << 30, NULL, "Open files of each process."},
    [SETTING_LIMITS_FILE_SIZE] = {"sandbox.limits.file_size", VALUE_SIZE, NARROW_LOWER, 0, NULL,
                                  "The largest file that the command may write."},
    [SETTING_LIMITS_TMP_SIZE] =
        {"sandbox.limits.tmp_size", VALUE_SIZE, NARROW_LOWER, 0, NULL,
         "Size of all private directories together. Default: an eighth of the memory, at "
         "least 256M."},
    [SETTING_LIMITS_LAYER_SIZE] =
        {"sandbox.limits.layer_size", VALUE_SIZE, NARROW_NEVER, 0, NULL,
         "Room on the disk that the layers of a session with overlays may take together. bawn "
         "looks "
         "four times a second, and above it ends the command; what it changed stays. A session "
         "that "
         "is above it is not continued. Default: half of what is free on that disk when the "
         "session "
         "starts, besides what its layers hold by then; with 'limits: none' no limit. Without "
         "overlays it has no effect. Files without a name count while somebody has them open, but "
         "not those that are only mapped or on the way through a socket."},
    [SETTING_LIMITS_TIME] =
        {"sandbox.limits.time", VALUE_SECONDS, NARROW_LOWER, 0, NULL,
         "Wall-clock time. Then bawn ends the command, and the exit status is 124."},
    [SETTING_PROCESS_DEBUG] = {"sandbox.process.debug", VALUE_BOOL, NARROW_LOWER, 0, NULL,
                               "Allow ptrace inside the sandbox, for gdb and strace."},
    [SETTING_PROCESS_MAP_ROOT] = {"sandbox.process.map_root", VALUE_BOOL, NARROW_LOWER, 0, NULL,
                                  "Show the caller's id as 0 inside."},
    [SETTING_PROCESS_AS_ROOT] = {"sandbox.process.as_root", VALUE_BOOL, NARROW_LOWER, 0, NULL,
                                 "When root runs bawn: keep host id 0 for the command."},
    [SETTING_PROCESS_CONTAINERS] = {"sandbox.process.containers", VALUE_BOOL, NARROW_LOWER, 0, NULL,
                                    "Let rootless containers run inside. With cgroup v2 they have "
                                    "control groups of their own, below the limits."},
    [SETTING_PROCESS_TIME_NS] =
        {"sandbox.process.time_ns", VALUE_BOOL, NARROW_HIGHER, 0, NULL,
         "true: the clocks that count from the boot (CLOCK_BOOTTIME, CLOCK_MONOTONIC, "
         "/proc/uptime, sysinfo, start times of processes) begin at zero inside. The host's uptime "
         "is no secret: /proc/self/timens_offsets tells it. The date is the host's."},
    [SETTING_PROCESS_EXPLAIN] =
        {"sandbox.process.explain", VALUE_BOOL, NARROW_HIGHER, 0, NULL,
         "true: bawn also looks at calls that only read, and tells of those about something that "
         "the rules hide. Opening or looking at a file then takes several times as long."},
    [SETTING_PROCESS_OBSERVE] =
        {"sandbox.process.observe", VALUE_BOOL, NARROW_LOWER, 0, NULL,
         "true: what 'bawn learn' runs a command with. It can read the host, except secrets and "
         "what "
         "rules deny, and what is in your home, and bawn tells what it opens that no rule grants. "
         "Without a network it has one that refuses every host, and tells which. Calls are looked "
         "at "
         "as with explain."},
    [SETTING_PROCESS_UNSANDBOXED] =
        {"sandbox.process.allow_unsandboxed", VALUE_BOOL, NARROW_LOWER, 0, NULL,
         "Let a caller that asks for it run a command outside the sandbox."},
    [SETTING_DEVICES_KVM] = {"sandbox.devices.kvm", VALUE_BOOL, NARROW_LOWER, 0, NULL,
                             "Give access to /dev/kvm."},
    [SETTING_WORKSPACE_MOUNT] = {"sandbox.workspace_mount", VALUE_PLACE, NARROW_NEVER, 0, NULL,
                                 "Where the workspace is inside. Default: where it is on the host. "
                                 "/proc/self/mountinfo tells the host's path in any case."},
    [SETTING_HOME] = {"sandbox.home", VALUE_WORD, NARROW_LOWER, 0, home_words,
                      "What the home is inside, besides the paths granted in it. private: an empty "
                      "directory that is gone afterwards. keep: one directory for each workspace, "
                      "which stays; 'bawn plan' prints where it is, and only the disk limits its "
                      "size. Remove it to start anew. none: nothing."},
    [SETTING_REPOSITORY] =
        {"sandbox.repository", VALUE_WORD, NARROW_LOWER, 0, repository_words,
         "auto: grant the git repository of a workspace that is a subdirectory, a linked worktree "
         "or a submodule. The command can read the rest of the work tree, and write git's own "
         "files except hooks and configuration. none: grant nothing. Default: none, but the "
         "profiles default and strict set auto."},
    [SETTING_LATE] =
        {"sandbox.late", VALUE_WORD, NARROW_LOWER, 0, late_words,
         "What happens to a name that a rule hides and that somebody outside makes while the "
         "command runs. watch: bawn masks it a moment later; in that moment the command can open "
         "it. held: bawn opens every file for the command, and opens none under a hidden name, so "
         "that there is no such moment. Opening a file then takes several times as long. The "
         "command can still see that it is there (stat), and a file that is executable can be "
         "started until it is masked. Where no rule hides a name that could appear, held costs "
         "nothing. Default: watch; in an overlay, where nobody is told of such names, held."},
    [SETTING_OVERLAY_ALL] =
        {"sandbox.overlay_all", VALUE_BOOL, NARROW_HIGHER, 0, NULL,
         "true: whatever a rule grants for writing (rw) is an overlay instead, so that no "
         "command changes a file of the host; devices stay as they are. The profile overlay sets "
         "it."},
};

const struct list_info list_table[LIST_COUNT] = {
    [LIST_LOCK] = {"lock", false, false,
                   "Keys that no layer below the org may set; a key locks all below it."},
    [LIST_PRESETS] = {"presets", false, true,
                      "Toolchains and coding agents to make room for: c, git, go, java, node, "
                      "python, rust; aider, claude, codex, gemini, opencode."},
    [LIST_REOPEN] = {"sandbox.reopen", false, true,
                     "Entries to drop from the built-in lists of secrets and protected paths, "
                     "spelled as 'bawn policy show --builtin' prints them."},
    [LIST_NETWORK_HOSTS] = {"sandbox.network.hosts", true, true,
                            "NAME: ADDRESS pins a name to an address, and permits that address "
                            "for it."},
    [LIST_NETWORK_UNIX_SOCKETS] =
        {"sandbox.network.unix_sockets", false, true,
         "Unix sockets of the host that the command may connect to, by path. Of a directory "
         "nothing is shown: list each socket."},
    [LIST_NETWORK_PUBLISH] =
        {"sandbox.network.publish", false, true,
         "Ports inside that the host may connect to: [ADDRESS:]PORT[:PORT], the host's port and "
         "that inside. Without an address only the host itself can connect."},
    [LIST_NETWORK_HOST_PORTS] =
        {"sandbox.network.host_ports", false, true,
         "Ports of the host's loopback that the command may connect to, by the same number at "
         "localhost, 127.0.0.1 and ::1. A rule that denies one of the three is against "
         "the port, and so is one that asks about it with that port."},
    [LIST_NETWORK_UPSTREAM_NO_PROXY] =
        {"sandbox.network.upstream_no_proxy", false, true,
         "Hosts that bawn connects to itself, not through sandbox.network.upstream_proxy, spelled "
         "like hosts in rules: a.example, *.example, **.example, 10.0.0.0/8, with :PORT or "
         "without. "
         "An address or a range is only for connections to an address, and for pinned names: bawn "
         "looks no other name up to find out."},
    [LIST_ENV_PASS] =
        {"sandbox.process.env.pass", false, true,
         "Environment variables that the command gets; a final * matches any ending."},
    [LIST_ENV_SET] = {"sandbox.process.env.set", true, true,
                      "Environment variables that bawn sets to a value. HISTFILE is always "
                      "/dev/null. bawn refuses variables that make programs run code."},
    [LIST_ENV_DENY] = {"sandbox.process.env.deny", false, false,
                       "Environment variables that the command does not get, whoever lists them."},
    [LIST_EXCLUDED_COMMANDS] = {"sandbox.process.excluded_commands", false, true,
                                "Commands that a program which asks bawn may run outside the "
                                "sandbox. run puts every command inside."},
    [LIST_DEVICES_ALLOW] = {"sandbox.devices.allow", false, true,
                            "Device nodes that the command gets."},
    [LIST_DEVICES_DENY] = {"sandbox.devices.deny", false, false,
                           "Device nodes that the command does not get, whoever allows them."},
    [LIST_TOOLS] = {"tools", false, true,
                    "Built-in tools that bawn offers: read, write, list_files, shell."},
    [LIST_TOOL_RULES] = {"tool_rules", true, false,
                         "TOOL: {approval_required: true} makes bawn ask before each use."},
    [LIST_COMMAND_RULES] = {"tool_rules.*", true, false,
                            "TOOL: {allow, ask, deny: [COMMAND PATTERNS]}."},
};

const char *list_not_yet(enum list_id list, uint64_t network_mode)
{
    switch (list) {
    case LIST_NETWORK_HOSTS:
        return network_mode == NETWORK_PROXY || network_mode == NETWORK_ISOLATED
                   ? NULL
                   : "only the network modes proxy and isolated have it, without an engine";
    case LIST_NETWORK_PUBLISH:
    case LIST_NETWORK_HOST_PORTS:
        return network_mode == NETWORK_NONE || network_mode == NETWORK_VETH
                   ? "only the network modes proxy, isolated and host have ports, without an engine"
                   : NULL;
    default:
        return NULL;
    }
}

static bool parse_word(const char *const *words, const char *text, uint64_t *ret_number)
{
    for (size_t i = 0; words[i]; i++) {
        if (strcmp(words[i], text) == 0) {
            *ret_number = i;
            return true;
        }
    }
    return false;
}

static bool parse_percent(const char *text, uint64_t max, uint64_t *ret_number)
{
    char digits[16];
    size_t length = strlen(text);

    if (length > 0 && text[length - 1] == '%')
        length--;
    if (length >= sizeof(digits))
        return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    return text_parse_count(digits, max, ret_number) && *ret_number > 0;
}

/* The first address, and the bits behind it in the last byte. */
static bool parse_subnet(const char *text, uint64_t *ret_number)
{
    const char *slash = strchr(text, '/');
    struct host subnet, first;
    char address[INET_ADDRSTRLEN];
    unsigned ignored;
    const char *special;
    uint32_t number;

    if (!slash || (size_t)(slash - text) >= sizeof(address) || host_parse_rule(text, &subnet) ||
        subnet.kind != HOST_ADDRESS || subnet.port != 0 || !host_is_v4(&subnet))
        return false;
    memcpy(address, text, (size_t)(slash - text));
    address[slash - text] = '\0';
    special = host_special(&subnet, &ignored);
    if (!host_parse_address(address, &first) || !special || strcmp(special, "private") != 0 ||
        memcmp(first.address, subnet.address, sizeof(first.address)) != 0)
        return false;
    memcpy(&number, subnet.address + 12, sizeof(number));
    *ret_number = (uint64_t)ntohl(number) << 8 | (subnet.prefix_bits - 96);
    return *ret_number % 256 == 30 || (*ret_number % 256 >= 16 && *ret_number % 256 <= 25);
}

static bool is_place(const char *text)
{
    autofree char *normal = path_normalize("/", text);

    return normal && strcmp(normal, text) == 0 && strcmp(text, "/") != 0;
}

bool setting_parse(enum setting_id id, const char *text, uint64_t *ret_number)
{
    static const char *const bools[] = {"false", "true", NULL};
    const struct setting_info *info = &setting_table[id];
    struct host proxy;

    switch (info->type) {
    case VALUE_BOOL:
        return parse_word(bools, text, ret_number);
    case VALUE_WORD:
        return parse_word(info->words, text, ret_number);
    case VALUE_TEXT:
        *ret_number = 0;
        return *text != '\0';
    case VALUE_PLACE:
        *ret_number = 0;
        return is_place(text);
    case VALUE_COUNT:
        return text_parse_count(text, info->max, ret_number) && *ret_number > 0;
    case VALUE_SIZE:
        return text_parse_size(text, ret_number) && *ret_number > 0;
    case VALUE_PERCENT:
        return parse_percent(text, info->max, ret_number);
    case VALUE_SECONDS:
        return text_parse_seconds(text, ret_number) && *ret_number > 0;
    case VALUE_PORT:
        return text_parse_count(text, 65535, ret_number) && *ret_number > 0;
    case VALUE_MTU:
        return text_parse_count(text, 65535, ret_number) && *ret_number >= 1280;
    case VALUE_SUBNET:
        return parse_subnet(text, ret_number);
    case VALUE_PROXY:
        *ret_number = 0;
        return proxy_parse(text, &proxy);
    }
    return false;
}

void setting_expects(enum setting_id id, char *out, size_t out_size)
{
    static const char *const shapes[] = {
        [VALUE_BOOL] = "true or false",
        [VALUE_WORD] = "",
        [VALUE_TEXT] = "a word",
        [VALUE_PLACE] = "an absolute path such as /workspace",
        [VALUE_COUNT] = "a whole number, 1 or more",
        [VALUE_SIZE] = "a size such as 512M or 2G",
        [VALUE_PERCENT] = "a percentage such as 80 or 150%",
        [VALUE_SECONDS] = "a time such as 90s, 10m or 2h",
        [VALUE_PORT] = "a port, 1 to 65535",
        [VALUE_MTU] = "a size in bytes, 1280 to 65535",
        [VALUE_SUBNET] = "a private network such as 10.9.8.4/30 or 10.9.8.0/24",
        [VALUE_PROXY] = "http://HOST:PORT; a login is in ~/.config/bawn/proxy-login",
    };
    const struct setting_info *info = &setting_table[id];
    size_t used = 0;

    if (info->type != VALUE_WORD) {
        (void)snprintf(out, out_size, "%s", shapes[info->type]);
        return;
    }
    for (size_t i = 0; info->words[i] && used < out_size; i++) {
        const char *between = i == 0 ? "" : info->words[i + 1] ? ", " : " or ";

        used += (size_t)snprintf(out + used, out_size - used, "%s%s", between, info->words[i]);
    }
}

int64_t setting_strictness(enum setting_id id, uint64_t number)
{
    int64_t value = number > INT64_MAX ? INT64_MAX : (int64_t)number;

    return setting_table[id].narrow == NARROW_HIGHER ? value : -value;
}

bool setting_is_denial(enum setting_id id, uint64_t number)
{
    enum value_type type = setting_table[id].type;

    if (setting_table[id].narrow == NARROW_HIGHER)
        return number == 1;
    return (type == VALUE_BOOL || type == VALUE_WORD) && number == 0;
}

enum setting_id setting_find(const char *key)
{
    unsigned id = 0;

    while (id < SETTING_COUNT && strcmp(setting_table[id].key, key) != 0)
        id++;
    return id;
}

enum list_id list_find(const char *key)
{
    unsigned id = 0;

    while (id < LIST_COUNT && strcmp(list_table[id].key, key) != 0)
        id++;
    return id;
}

bool env_matches(const char *pattern, const char *name, size_t length)
{
    size_t size = strlen(pattern);

    if (size > 0 && pattern[size - 1] == '*')
        return length >= size - 1 && strncmp(pattern, name, size - 1) == 0;
    return size == length && strncmp(pattern, name, length) == 0;
}

/* SECURITY: these make the next program run code of the caller's choice, whoever lists them. */
bool env_is_dangerous(const char *name, size_t length)
{
    static const char *const names[] = {"LD_*",        "BASH_ENV",   "ENV",
                                        "BASH_FUNC_*", "SHELLOPTS",  "PROMPT_COMMAND",
                                        "PERL5OPT",    "GCONV_PATH", "BAWN_*"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (env_matches(names[i], name, length))
            return true;
    return false;
}

bool env_is_fixed(const char *name)
{
    return strcmp(name, "HISTFILE") == 0;
}
