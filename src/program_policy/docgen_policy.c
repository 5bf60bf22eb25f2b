/* SPDX-License-Identifier: Apache-2.0 */
/* bawn-policy(5): what the tables do not say, and the keys as the library knows them. */
#include "program_policy/docgen.h"

#include <bawn/policy.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char description[] =
    "A policy says what a contained program may read, write, run and connect to. It is YAML: one "
    "document, a map, without tags, anchors and aliases. Every key may be left out. A missing key, "
    "an empty list and null mean the same: they grant nothing.\n"
    "An unknown key, a key that stands twice, a value of the wrong type and a value that bawn "
    "cannot read are errors. bawn reports each with file, line and column, and refuses the whole "
    "policy: it skips no rule. A file has at most 8 MiB.\n"
    "In YAML a * in front and a lone ~ have a special meaning: write \"*.pem\" and \"~\" in "
    "quotes.\n"
    "The kernel holds the policy for the commands that 'bawn run' starts. Where this host cannot "
    "hold a rule, bawn refuses before anything runs. 'bawn plan' prints who holds each rule.\n"
    "Where the policy asks about a path, the command waits when it opens or changes it, until "
    "somebody answers: see 'bawn approve'. What can be opened is there to be seen: its name, size, "
    "times, links and attributes are not asked about. It is run only after a yes, which holds for "
    "the session; the command that bawn itself starts, and libraries, are refused without a "
    "question. To connect to a UNIX socket takes a yes to writing it; UNIX datagram sockets cannot "
    "be made. With sandbox.process.containers nobody is asked, and it is refused.\n"
    "suffixes, max_file_bytes, tools, tool_rules and "
    "excluded_commands are for programs that ask bawn. In all these cases 'bawn check' and 'bawn "
    "why' answer as the policy says.";

static const char layers[] = "A policy is made of layers, read in this order. bawn merges lists; "
                             "of single values the last one counts.";

static const struct roff_entry layer_list[] = {
    {"built-in", "A profile, the built-in lists, and presets. A preset counts as if the layer that "
                 "names it contained it."},
    {"org", "/etc/bawn/policy.yaml."},
    {"user", "$XDG_CONFIG_HOME/bawn/policy.yaml. Where the variable, or HOME, leads into the "
             "workspace, that file counts as the project's. The user's file is then the one in the "
             "home that the user database names."},
    {"project", ".bawn/policy.yaml in the nearest directory at or above the workspace that has a "
                ".bawn. The search ends at the home directory."},
    {"local", ".bawn/local.yaml beside it."},
    {"--policy", "The file that BAWN_POLICY names, then those of the option, in their order."},
    {"environment", "BAWN_* variables."},
    {"command line", "Options such as --ro and --set."},
};

static const char authority[] =
    "Who may say what is another order. The org is the strongest. Then come the user, --policy, "
    "the environment and the command line, which are equal. Then come project and local. A profile "
    "is only a default. A weaker layer cannot re-open what a stronger one denies. It cannot change "
    "a single value that a stronger layer set to the strictest there is, such as 'reads: strict'. "
    "With 'lock' the org keeps a key, and all below it, to itself: it is an error when another "
    "layer sets it.\n"
    "Project and local may only narrow. When a value of theirs would widen, it has no effect, and "
    "bawn warns. 'bawn policy approve' lifts that for one file, by the hash of its content. Until "
    "the file changes it may widen what the user and the org did not deny. Even then it cannot "
    "re-open an entry of the built-in lists.\n"
    "'bawn policy save' puts a rule into a file of any layer, and leaves comments, order and the "
    "way "
    "the file is written as they are. A widening rule goes into a project's file only if that is "
    "new or was approved, and then approves what the file becomes.\n"
    "The contained program can write no policy file that bawn read, nothing in /etc/bawn and "
    "nothing in the user's bawn directory. No rule changes that.";

static const char paths[] =
    "An entry of sandbox.paths gives one file, or one directory and all below it, a mode. The root "
    "is literal: * and ? stand for themselves. It starts with /, with ~/ for the home directory, "
    "with $NAME/ or ${NAME}/, or it is relative. A relative root starts from the directory that "
    "holds .bawn in project and local files, and from the workspace elsewhere. '..' may only stand "
    "in front of a relative root. The path need not exist. Where it leads through symbolic links, "
    "a denial holds at both ends. So does a grant, unless the program could change one of the "
    "links: then bawn does not follow them, and warns.\n"
    "NAME is one of HOME, WORKSPACE, XDG_CONFIG_HOME, XDG_CACHE_HOME, XDG_DATA_HOME, "
    "XDG_STATE_HOME, XDG_RUNTIME_DIR, CARGO_HOME, RUSTUP_HOME, GOPATH, CLAUDE_CONFIG_DIR, "
    "CODEX_HOME and GEMINI_CLI_HOME. A variable that is not set stands for its usual place. bawn "
    "expands no other variable. Behind the first, a whole name $WORKSPACE_DASHED stands for the "
    "path of the workspace with a - for every character but letters and digits: agents name the "
    "files of a project so.\n"
    "The modes:";

static const struct roff_entry modes[] = {
    {"ro", "The program may read and execute it."},
    {"rw", "The program may also write it."},
    {"overlay",
     "A directory. The program may write it, also what the built-in list protects. The "
     "host's files stay as they are: the changes go to a layer, which 'bawn diff' shows "
     "and 'bawn apply' takes. The program cannot change files whose owner or group is not "
     "the caller's. Where something is mounted below the directory, each directory in it without a "
     "mount is an overlay of its own, and what lies beside those can only be read."},
    {"private", "An empty directory of the sandbox's own. It is gone afterwards, and has nothing "
                "of the host in it."},
    {"copy", "A file. The program gets a copy of it, which it may write and replace. The host's "
             "file stays as it is; 'bawn run --write-back' takes a changed copy back. The file "
             "must lie in a private place, such as the home; else the program can only read it. In "
             "a kept home bawn makes the copy where there is none yet, and the copy stays."},
    {"ask", "bawn asks about each use."},
    {"deny", "The program can neither read nor write it."},
};

static const char precedence[] =
    "For one path and one operation:\n"
    "1. Of the rules of profile, approved project, user and org, the most specific wins: the one "
    "whose path or pattern matches the most components. In a tie the profile loses. Between layers "
    "of the same strength the one read later wins; otherwise the stricter rule wins.\n"
    "2. Without a rule, sandbox.reads decides about reads, and writes are denied. The program can "
    "always list a directory on the way to something granted.\n"
    "3. What a stronger layer than the winner denies, or asks about, stands.\n"
    "4. An entry of the built-in lists stands, unless the user or the org names that very path, or "
    "one below it, in sandbox.paths. A protected entry does not bind in a private tree, nor where "
    "the workspace itself lies below it.\n"
    "5. A project makes the answer stricter, never laxer.\n"
    "What cannot be read cannot be written either, and what can be read can be executed. A "
    "question about a path is about the place where it leads. bawn follows symbolic links as the "
    "kernel would inside the sandbox, where a hidden link does not exist.\n"
    "suffixes and max_file_bytes are for programs that ask bawn before they open a file. The "
    "kernel does not know them.";

static const char patterns[] =
    "sandbox.deny, ask, protect and confirm take patterns. They are like those of gitignore, on "
    "bytes, and case-sensitive. A match binds the path and all below it, whether it exists yet or "
    "not. Patterns only restrict; none grants anything.\n"
    "A pattern without a slash inside matches at any depth below the directory that relative paths "
    "start from. A pattern with one starts at that directory, or where /, ~/ or $NAME/ say. A "
    "final slash or /** changes nothing. A ! in front is an error: no pattern cancels another "
    "one.\n"
    "Between slashes:";

static const struct roff_entry wildcards[] = {
    {"*", "Any bytes, also none."},
    {"?", "One byte."},
    {"[a-z], [!a-z]", "One byte of the class, or one that is not in it."},
    {"\\", "The next byte stands for itself."},
    {"**", "Alone between slashes: any number of directories, also none."},
};

static const char network[] =
    "sandbox.network is false (no network), true (bawn asks about every host), or a map. In mode "
    "none the program reaches no host, in mode proxy those that rules allow. In mode isolated it "
    "reaches every public address, by TCP and UDP, unless a rule is against it. In mode host it "
    "reaches all that you do, and rules are not held.\n"
    "Mode veth is for root, on a host that forwards packets (net.ipv4.ip_forward; bawn refuses to "
    "run otherwise, and does not change it). The sandbox has one end of a pair of interfaces, and "
    "the host's NAT gives what it sends the host's address. It reaches every public IPv4 address "
    "and no other: routes inside refuse private networks, cloud metadata and the "
    "like at once, and rules of nf_tables on the host's end refuse them again, with every address "
    "of the host itself; nobody connects in. Names are asked for at the host's servers, by bawn. "
    "There are no rules on hosts, no published ports and no ports of the host: run refuses a "
    "policy that has them, but for rules that allow a public host. The rules of nf_tables belong "
    "to a process and go with it; the pair goes with the sandbox. A firewall of the host that "
    "drops what is forwarded holds for the sandbox, too. Nothing of IPv6 leaves, unless ipv6 is "
    "true: then public IPv6 addresses are reached the same way, on a host that forwards IPv6 "
    "(net.ipv6.conf.all.forwarding; with it the host ignores router advertisements, unless "
    "accept_ra is 2). The pair then has private addresses of fd62:6177:6e00::/64, and the rules "
    "refuse the networks of IPv6 that the host is in at the start as well.\n"
    "With engine: slirp4netns or pasta the mode isolated is a NAT of that program's. It runs "
    "outside with the rights of who runs bawn, makes the interface tap0 inside, and ends with the "
    "session; when it is killed there is no network any more. It needs /dev/net/tun, and pasta an "
    "interface with a default route. The command reaches every public IPv4 address and no other: "
    "rules of nf_tables and routes in its own network refuse the rest, with every address that the "
    "host has when the session begins, but none that it gets later. Names are asked for by bawn. "
    "There are no rules on hosts, no published ports and no ports of the host, as in mode veth.\n"
    "With ipv6: true, too, the command reaches every public IPv6 address as well, from fd00::64. "
    "What is not public is refused the same way: all outside of 2000::/3, 6to4, Teredo, "
    "translated IPv4. Of the host not only its addresses are, but the networks that they are in "
    "when the session begins: neighbours have public addresses there, and a host takes new ones "
    "from day to day. pasta wants an interface with a default route of IPv6, and does not start "
    "without; slirp4netns starts, and leads nowhere. Most programs use IPv4 for a name that has "
    "both. Without ipv6: true nothing of IPv6 leaves.\n"
    "A policy that allows a host, or lists a "
    "port, and names no mode has the mode proxy.\n"
    "A rule is one of these. With :PORT behind it, it is about this port only.";

static const char network_ports[] =
    "Where nf_tables is missing (bawn doctor says so), the mode proxy listens inside at single "
    "ports: 80 and 443, 22 if a rule for any port is opaque, and those that rules of allow and "
    "ask name, 16 in all. Programs that know of no proxy reach hosts at these ports and are "
    "refused at others; a client of the proxy reaches every port that rules allow. bawn plan "
    "lists the ports. The program inside cannot listen at one of them, unless it is published "
    "and not below 1024; then hosts are reached there by the proxy alone. The rules hold all the "
    "same. The mode isolated needs nf_tables. In a sandbox inside another there is none; where the "
    "network of the outer one is filtered, its proxy is the upstream_proxy, unless the policy "
    "names one, and rules with by allow nothing, for nobody tells there which program connects.";

static const struct roff_entry hosts[] = {
    {"www.example", "This name."},
    {"*.example", "Names below it, at any depth, but not example itself."},
    {"**.example", "The name and all below it."},
    {"192.0.2.7, [2001:db8::7]", "An address. IPv6 needs the brackets only with a port."},
    {"192.0.2.0/24, 2001:db8::/32", "A range of addresses."},
};

static const char network_words[] =
    "A connection to a host must be what it seems: TLS whose client asks for that name, or HTTP "
    "whose requests are for it. bawn refuses anything else. In sandbox.network.allow and ask a "
    "rule can say more. The words stand behind the host, each after one blank, or the rule is a "
    "map: \"git.example:22 opaque\" is {host: \"git.example:22\", opaque: true}. On a command line "
    "the rule needs quotes: --allow-host 'git.example:22 opaque'.";

static const struct roff_entry host_words[] = {
    {"opaque, opaque: true",
     "Anything may be said on the connection: bawn does not look at it. ssh, databases and gRPC "
     "without TLS need that. bawn then knows the address that it connected to, but not which of "
     "the services behind it the command speaks to: name one host and its port. Where the kernel "
     "can hold it ('bawn plan' says so), the command gets the socket to the server itself, and "
     "bytes do not pass through bawn: the socket leads nowhere else, and can be neither connected, "
     "bound nor listened on again. It shows the command the server's address and this machine's. "
     "bawn counts such connections, but not their bytes. It relays as ever what is bound, copied, "
     "inherited or in a set of epoll before it is connected, what does not wait for a name of "
     "several addresses, rules with by=, and all with an upstream proxy. Default: false."},
    {"ech=allow, ech: allow",
     "A TLS client may hide the name that it asks for (Encrypted Client Hello), as browsers do. "
     "bawn then cannot tell whether it asks for this host or for another one on the same server. "
     "Default: deny."},
    {"by=/usr/bin/git, by: /usr/bin/git",
     "The rule is for this program, and for what it starts. It opens the host to no other program, "
     "and takes nothing away from others that another rule opens it to. The path is that of the "
     "program's file, not of a script: what runs a script is its interpreter. The rule counts only "
     "where the command can write neither that file, nor those of the programs between it and the "
     "one that connects, and where nobody else has the connection open. It narrows, and is no "
     "wall: whoever can make that program do something else, as options of git and variables such "
     "as LD_PRELOAD can, reaches the host as well. 'bawn check --by PROGRAM connect HOST:PORT' "
     "asks for one program; without --by such a rule counts for nobody."},
};

static const char network_asked[] =
    "A connection to a host that is asked about (sandbox.network.ask, unlisted: ask, or "
    "sandbox.network: true) waits until somebody has answered, or until sandbox.ask_timeout is "
    "over, and then the answer is no. No other connection waits for it. Where nobody can be "
    "asked it is refused at once. The answer is for this name or address and this port, and for "
    "nothing else: for one connection of the program's, or while the session lasts. To a host "
    "that was allowed all holds that holds for one that a rule allows: what may be said to it, and "
    "which addresses its name may lead to. An address of it that a rule asks about is asked about "
    "by itself. No answer opens what a rule of deny is against.\n"
    "Inside, such a name has an address before anybody has answered, whether it exists or not. "
    "bawn looks it up only after a yes, so that nobody outside hears of a name that was not "
    "allowed. UDP, in mode isolated, is not asked about: it is refused.";

static const char network_order[] =
    "A rule of sandbox.network.deny always wins, whoever allows the host; it takes no word. It "
    "holds for every name that is an alias (CNAME) of the host, where bawn looks it up. "
    "Otherwise the most specific rule counts, with its words: a longer name or prefix, then one "
    "with a port. Of two rules that are as specific, ask wins over allow. If both allow, or both "
    "ask, they can differ in their words: in one layer the rule that lets more be said counts, "
    "between two files of the same strength that of the file that is read later, and between "
    "layers of different strength the rule that lets less be said; a rule of the profile loses to "
    "all others. A project that you did not approve cannot say opaque or ech=allow. "
    "bawn denies a host that no rule names, or asks about it when sandbox.network.unlisted says "
    "so. A lone * is an error.\n"
    "Addresses that lead back into the machine or the local network (loopback, private, "
    "link-local, multicast and the like) need a rule with the address, or with a range no wider "
    "than the special one: 0.0.0.0/0 does not open 10.0.0.0/8. sandbox.network.host_ports opens "
    "ports of the host's own loopback.\n"
    "bawn reads only one spelling of an address: 127.1, 0x7f.0.0.1 and 2130706433 are errors. "
    "Write international names in their xn-- form. bawn looks nothing up when it answers a "
    "question.";

static const char keys[] =
    "A dot stands for one level of nesting: sandbox.limits.pids is the key pids in limits in "
    "sandbox. 'limits: strict' is short for 'limits: {preset: strict}'. Sizes are in bytes or with "
    "K, M, G, T; times in seconds or with s, m, h, d.";

static const char lists[] =
    "Two lists are part of every profile. The program cannot read secrets, in any mode of "
    "sandbox.reads: keys, tokens, password stores, browser profiles, mail, shell histories, "
    "sockets that lead to other services. It cannot write protected paths inside any writable "
    "tree, whether they exist or not: git hooks and config, shell start-up files, settings of "
    "editors and agents, and other files that run code when you work outside. 'bawn policy show "
    "--builtin' prints both, with the reason of each entry.\n"
    "To open one path, name it, or one below it, in sandbox.paths of the user or org policy, or "
    "with an option such as --ro. To drop an entry for good, list it in sandbox.reopen, spelled as "
    "that command prints it. A pattern, or a grant of a directory above, opens nothing.";

static const char git[] =
    "Where the home inside is private, bawn makes the ~/.gitconfig there from yours and from "
    "$XDG_CONFIG_HOME/git/config (or from the file in GIT_CONFIG_GLOBAL), with the files that they "
    "include. Of the conditions of includeIf bawn knows gitdir and onbranch. The file has only "
    "these keys, because their values run nothing and name no file: user, author and committer "
    ".name and .email, user.useConfigOnly; advice.*, color.*, column.*; branch.autoSetupMerge, "
    "autoSetupRebase, sort; commit.cleanup, status, verbose; core.abbrev, autocrlf, commentChar, "
    "eol, fileMode, ignoreCase, logAllRefUpdates, precomposeUnicode, quotePath, safecrlf, "
    "whitespace; diff.algorithm, colorMoved, colorMovedWS, context, interHunkContext, "
    "mnemonicPrefix, noprefix, renameLimit, renames, submodule, suppressBlankEmpty; fetch.prune, "
    "pruneTags; i18n.commitEncoding, logOutputEncoding; init.defaultBranch, defaultObjectFormat; "
    "log.abbrevCommit, date, decorate, follow; merge.branchdesc, conflictStyle, directoryRenames, "
    "ff, log, renames, stat; pull.ff, rebase; push.autoSetupRemote, default, followTags; "
    "rebase.abbreviateCommands, autoSquash, autoStash, missingCommitsCheck, stat, updateRefs; "
    "rerere.autoUpdate, enabled; safe.bareRepository; stash.showIncludeUntracked, showPatch, "
    "showStat; status.branch, relativePaths, short, showStash, showUntrackedFiles, "
    "submoduleSummary; tag.sort. git signs no commits inside, and the file of core.excludesFile is "
    "not there. The command may change its ~/.gitconfig; yours stays as it is. In a home that is "
    "kept "
    "bawn makes it once. Where a policy "
    "shows your ~/.gitconfig, as --preset git does, the command gets that one instead. 'bawn plan' "
    "prints the file.\n"
    "With sandbox.repository: auto bawn looks for the repository of the workspace, from the "
    "workspace upwards, below the home. From a subdirectory (paths.repository, paths.git-dir) the "
    "command can read the rest of the work tree and write .git. In a linked worktree "
    "(paths.git-common) it can write what all worktrees share, but not HEAD, index and other files "
    "of the other worktrees. In a submodule (paths.git-dir) it can write its part of .git/modules. "
    "It can write hooks, configuration and info/attributes in none of them, whatever the presets. "
    "Where the workspace is read-only, all of this is read-only too. A repository must belong to "
    "the user, with the directories down to the workspace, have a configuration, and be called "
    ".git or NAME.git. A repository that a file .git leads to must itself name this work tree. For "
    "other repositories, and for a work tree that is the home or has places of secrets in it "
    "(~/.config, /etc), grant what is needed in sandbox.paths.";

static const struct roff_entry formats[] = {
    {"claude",
     "The sandbox and permissions objects of Claude Code's settings.json. bawn ignores its other "
     "keys. Rules on files become paths and patterns, WebFetch(domain:NAME) a host rule, rules on "
     "commands tool_rules. With --claude bawn reads the files in their own layers: "
     "managed-settings.json in /etc/claude-code as org, ~/.claude/settings.json as user, "
     ".claude/settings.json and settings.local.json as project and local."},
    {"srt", "Settings of srt, JSON with network, filesystem and credentials at the top."},
    {"sandboxes", "YAML, 'sandboxes: {NAME: {path, mode}}'; suffixes and max_file_bytes as in "
                  "sandbox.paths."},
};

static const char other_formats[] =
    "--policy, BAWN_POLICY and 'bawn policy import' also read these formats. bawn tells the format "
    "from the content, or import's --format names it. bawn reports keys for which it has no "
    "counterpart; what they would allow stays refused. Unknown keys inside are errors. 'bawn "
    "policy export' writes bawn, claude and srt.";

static const struct roff_entry variables[] = {
    {"BAWN_POLICY", "A policy file that bawn reads before those of --policy."},
    {"BAWN_PROFILE", "The profile, as the key profile. --profile wins over it."},
    {"BAWN_NETWORK", "true, false or a mode: sandbox.network."},
    {"BAWN_KEY",
     "Any other key with a single value: without 'sandbox.', in capitals, with _ for each dot. "
     "sandbox.limits.memory is BAWN_LIMITS_MEMORY. No variable sets a list. An unknown variable "
     "that starts with BAWN_ is an error; bawn ignores an empty one."},
    {"HOME, XDG_CONFIG_HOME, ...", "What ~ and $NAME stand for; see PATHS."},
};

static const struct roff_entry files[] = {
    {"/etc/bawn/policy.yaml", "The policy of the organisation."},
    {"$XDG_CONFIG_HOME/bawn/policy.yaml",
     "The policy of the user. Without the variable the directory is ~/.config."},
    {"$XDG_CONFIG_HOME/bawn/approved",
     "The project files that the user approved, one 'SHA256  PATH' a line."},
    {".bawn/policy.yaml, .bawn/local.yaml", "The policies of a project and of one checkout."},
};

static const struct {
    const char *text;
    const char *code;
} examples[] = {
    {"A user's policy: two toolchains, a directory of notes, .env files hidden in all projects, "
     "and three hosts, one of them for ssh.",
     "version: 1\n"
     "presets: [git, node]\n"
     "sandbox:\n"
     "  paths:\n"
     "    notes: {root: ~/notes, mode: ro}\n"
     "  deny: [.env, \"*.pem\"]\n"
     "  network:\n"
     "    mode: proxy\n"
     "    allow: [\"registry.example:443\", \"**.docs.example\", \"git.example:22 opaque\"]\n"},
    {"A project's policy, which only narrows: generated files stay as they are, customer data is "
     "hidden, and the build has less memory.",
     "version: 1\n"
     "sandbox:\n"
     "  protect: [src/generated]\n"
     "  deny: [fixtures/customers]\n"
     "  limits: {memory: 2G}\n"},
    {"An org's policy: nobody changes the mode of the network, and one domain is out of reach.",
     "version: 1\n"
     "lock: [sandbox.network.mode]\n"
     "sandbox:\n"
     "  network:\n"
     "    mode: proxy\n"
     "    deny: [\"**.paste.example\"]\n"},
    {"One file of a secret directory, opened by the user.",
     "version: 1\n"
     "sandbox:\n"
     "  paths:\n"
     "    known-hosts: {root: ~/.ssh/known_hosts, mode: ro}\n"},
};

static void add_section(struct strbuf *out, const char *title, const char *text)
{
    strbuf_addf(out, ".SH %s\n", title);
    roff_prose(out, text);
}

static void add_paragraphs(struct strbuf *out, const char *text)
{
    strbuf_add(out, ".PP\n");
    roff_prose(out, text);
}

static void add_keys(struct strbuf *out)
{
    struct bawn_key key;

    add_section(out, "KEYS", keys);
    for (size_t i = 0; bawn_policy_key(i, &key); i++) {
        strbuf_add(out, ".TP\n\\fB");
        roff_literal(out, key.key);
        strbuf_add(out, "\\fR: \\fI");
        roff_literal(out, key.takes);
        strbuf_add(out, "\\fR\n");
        roff_prose(out, key.help);
    }
}

/* Lines as they are. */
static void add_code(struct strbuf *out, const char *code)
{
    strbuf_add(out, ".PP\n.RS 4\n.nf\n");
    while (*code) {
        char line[128];
        size_t length = strcspn(code, "\n");

        (void)snprintf(line, sizeof(line), "%.*s", (int)length, code);
        roff_literal(out, line);
        strbuf_add(out, "\n");
        code += length + (code[length] == '\n');
    }
    strbuf_add(out, ".fi\n.RE\n");
}

static void add_examples(struct strbuf *out)
{
    strbuf_add(out, ".SH EXAMPLES\n");
    for (size_t i = 0; i < COUNT(examples); i++) {
        if (i > 0)
            strbuf_add(out, ".PP\n");
        roff_prose(out, examples[i].text);
        add_code(out, examples[i].code);
    }
}

void docgen_policy(struct strbuf *out)
{
    strbuf_add(out, ".\\\" Made by docgen from the table of keys.\n");
    roff_title(out, "BAWN\\-POLICY", 5, "File Formats");
    strbuf_add(out, ".SH NAME\nbawn\\-policy \\- what a contained program may do\n");
    add_section(out, "DESCRIPTION", description);
    add_section(out, "LAYERS", layers);
    roff_entries(out, layer_list, COUNT(layer_list));
    add_paragraphs(out, authority);
    add_section(out, "PATHS", paths);
    roff_entries(out, modes, COUNT(modes));
    strbuf_add(out, ".SS Precedence\n");
    roff_prose(out, precedence);
    add_section(out, "PATTERNS", patterns);
    roff_entries(out, wildcards, COUNT(wildcards));
    add_section(out, "NETWORK RULES", network);
    roff_entries(out, hosts, COUNT(hosts));
    add_paragraphs(out, network_words);
    roff_entries(out, host_words, COUNT(host_words));
    add_paragraphs(out, network_order);
    add_paragraphs(out, network_asked);
    add_paragraphs(out, network_ports);
    add_keys(out);
    add_section(out, "BUILT\\-IN LISTS", lists);
    add_section(out, "GIT", git);
    add_section(out, "OTHER FORMATS", other_formats);
    roff_entries(out, formats, COUNT(formats));
    strbuf_add(out, ".SH ENVIRONMENT\n");
    roff_entries(out, variables, COUNT(variables));
    strbuf_add(out, ".SH FILES\n");
    roff_entries(out, files, COUNT(files));
    add_examples(out);
    strbuf_add(out, ".SH SEE ALSO\n.BR bawn (1)\n");
}
