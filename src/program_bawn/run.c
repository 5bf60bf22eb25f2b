/* SPDX-License-Identifier: Apache-2.0 */
/* bawn run and shell, with a compiled plan at hand or not. */
#include "base/cleanup.h"
#include "base/environ.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mutant.h"
#include "base/text.h"
#include "program_bawn/own.h"
#include "session/kept.h"
#include "session/layers.h"
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { LOG_SIZE_MIN = 4096, LOG_SIZE_MAX = 1 << 30 };

int plan_map(int fd, const struct image **ret_image, struct bawn_error *err)
{
    const int wanted = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK;
    int seals = fcntl(fd, F_GET_SEALS);
    struct stat status;
    const void *bytes;
    int result;

    /* SECURITY: it cannot change behind our back after it was checked. */
    if (seals < 0 || (seals & wanted) != wanted || fstat(fd, &status) < 0)
        return error_set(err, EBADF, "run.plan",
                         "the compiled plan is not in a sealed memory file");
    bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return error_errno(err, errno, "map the compiled plan");
    result = image_check(bytes, (size_t)status.st_size, err);
    if (result == 0)
        *ret_image = bytes;
    return result;
}

static const char *user_shell(char *const *variables)
{
    const char *shell = environ_get(variables, "SHELL");

    return shell && *shell == '/' ? shell : "/bin/sh";
}

/* The sandbox's own answer to a command that cannot be run is 126 or 127. */
static int detach(const struct front *front, struct session_request *request,
                  struct bawn_error *err)
{
    struct strbuf out = {0};
    struct session_report report;
    int result = session_run_detached(request, &report, err);

    if (result < 0)
        return result;
    if (report.status > 0) {
        (void)front_fail(front, &report.error);
        return report.status;
    }
    if (report.unkept.errnum && !front->quiet)
        (void)fprintf(stderr,
                      "bawn: what the command says, and its exit status, are not kept: %s\n"
                      "hint: %s\n",
                      report.unkept.message, report.unkept.hint);
    if (report.unrecorded.errnum && !front->quiet)
        (void)fprintf(stderr, "bawn: %s\nhint: %s\n", report.unrecorded.message,
                      report.unrecorded.hint);
    if (front->json) {
        json_open(&out, NULL, '{');
        json_put_string(&out, "sid", report.sid);
        json_put_uint(&out, "pid", (uint64_t)report.pid);
        json_close(&out, '}');
    } else {
        strbuf_add(&out, report.sid);
    }
    return front_print(&out);
}

/* The plan that was handed over is to be proven, and kept where it belongs to a command line. */
static int take_plan(const struct front *front, struct session_request *request,
                     struct proof *proof, struct bawn_error *err)
{
    autoplace struct place_kept place = {.plans = {.fd = -EBADF}};
    int result = plan_map(front->plan_fd, &request->image, err);

    (void)close(front->plan_fd);
    if (result < 0 || !LAYERS_ALL)
        return result;
    if (front->owner_fd < 0)
        cache_locate(front, &place);
    request->holds = proof_holds;
    request->holds_context = proof;
    result = proof_start(proof, &place, request, err);
    /* A log tells of the proof before anything else happens. */
    if (result == 0 && request->log) {
        request->holds = NULL;
        result = proof_holds(proof, err);
    }
    return result;
}

/* What was asked for and this host cannot hold: best effort goes on without, and says so. */
static void tell_dropped(const struct front *front, const struct image *image)
{
    const uint32_t *notes = image_part(image, PART_NOTES);

    if (front->quiet || front->owner_fd >= 0)
        return;
    for (uint32_t i = 0; i < image->dropped && i < image_count(image, PART_NOTES); i++)
        (void)fprintf(stderr, "bawn: not held here: %s\n", image_string(image, notes[i]));
}

static int read_log_size(const struct front *front, uint64_t *ret_bytes, struct bawn_error *err)
{
    const char *value = options_value(&front->options, OPTION_LOG_SIZE);
    char shown[64];

    *ret_bytes = KEPT_OUTPUT_BYTES;
    if (!value)
        return 0;
    if (!text_parse_size(value, ret_bytes) || (*ret_bytes > 0 && *ret_bytes < LOG_SIZE_MIN) ||
        *ret_bytes > LOG_SIZE_MAX) {
        text_escape(shown, sizeof(shown), value, strlen(value), TEXT_ONE_LINE);
        (void)error_set(err, EINVAL, "usage.bad_value",
                        "--log-size: '%s' is neither 0 nor a size from 4K to 1G", shown);
        error_hint(err, "write a size such as 64K or 100M");
        return -EINVAL;
    }
    if (options_has(&front->options, OPTION_DETACH))
        return 0;
    (void)error_set(err, EINVAL, "usage.missing_option",
                    "--log-size: only what a detached command says is kept");
    error_hint(err, "add --detach, or write it to a file: bawn run -- COMMAND >FILE");
    return -EINVAL;
}

/* Of these the policy knows nothing: a plan that was kept without them is the same. */
static int take_own_options(struct front *front, struct session_request *request, struct log *log,
                            struct feed *feed, struct bawn_error *err)
{
    const char *path = options_value(&front->options, OPTION_DEBUG_LOG);
    const char *format = options_value(&front->options, OPTION_LOG_FORMAT);
    const char *prompt = options_value(&front->options, OPTION_PROMPT);
    int result = front_size(front, &request->size, err);

    if (result == 0)
        result = read_log_size(front, &request->log_bytes, err);
    if (result == 0 && format && !path) {
        (void)error_set(err, EINVAL, "usage.missing_option", "--log-format: there is no log");
        error_hint(err, "name its file with --debug-log FILE");
        return -EINVAL;
    }
    if (result == 0 && path) {
        result = log_open(log, path, format && strcmp(format, "json") == 0, err);
        request->log = log;
    }
    if (result == 0 && front->events_fd >= 0) {
        result = feed_open(feed, front->events_fd, err);
        request->feed = feed;
    }
    memcpy(request->further, front->further, sizeof(front->further));
    request->further_count = front->further_count;
    request->writes_back = options_has(&front->options, OPTION_WRITE_BACK);
    request->asks_nobody = prompt && strcmp(prompt, "never") == 0;
    request->changes_name = options_value(&front->options, OPTION_SESSION);
    request->reviews = options_has(&front->options, OPTION_REVIEW);
    if (result == 0 && request->reviews && request->is_detached) {
        result = error_set(err, EINVAL, "usage.contradiction", "run: --review and --detach");
        error_hint(err, "when the command has ended, 'bawn diff' shows what it changed");
    }
    options_drop(&front->options, OPTION_SESSION);
    options_drop(&front->options, OPTION_REVIEW);
    options_drop(&front->options, OPTION_PROMPT);
    options_drop(&front->options, OPTION_WRITE_BACK);
    options_drop(&front->options, OPTION_FD);
    options_drop(&front->options, OPTION_LOG_SIZE);
    options_drop(&front->options, OPTION_COLS);
    options_drop(&front->options, OPTION_ROWS);
    options_drop(&front->options, OPTION_DEBUG_LOG);
    options_drop(&front->options, OPTION_LOG_FORMAT);
    options_drop(&front->options, OPTION_EVENTS);
    return result;
}

static bool is_same_name(const char *one, const char *other)
{
    size_t length = strcspn(one, "=");

    return strncmp(one, other, length) == 0 && (other[length] == '=' || other[length] == '\0');
}

/* Adds one; the last of a name counts. */
static bool put_variable(struct given_variables *variables, const char *variable, bool is_given)
{
    vec_each (variables, other) {
        if (!is_same_name(*other, variable))
            continue;
        if (is_given)
            *other = (char *)(uintptr_t)variable;
        return true;
    }
    return vec_push(variables, (char *)(uintptr_t)variable);
}

/* The caller's variables, with those that --env gives a value. An option that did keeps only the
 * name: a plan is the same whatever the value. */
static int give_variables(struct front *front, struct session_request *request,
                          struct bawn_error *err)
{
    struct given_variables *given = &front->variables;

    vec_each (&front->options.given, option) {
        const char *equals = option->option->id == OPTION_ENV ? strchr(option->value, '=') : NULL;

        if (!equals)
            continue;
        if (!put_variable(given, option->value, true))
            return error_memory(err);
        option->value = strndup(option->value, (size_t)(equals - option->value));
        if (!option->value)
            return error_memory(err);
    }
    if (given->count == 0)
        return 0;
    for (char **variable = front->environ; *variable; variable++) {
        if (!put_variable(given, *variable, false))
            return error_memory(err);
    }
    if (!vec_push(given, NULL))
        return error_memory(err);
    request->command_environ = given->items;
    return 0;
}

static void log_start(const struct front *front, const struct session_request *request)
{
    struct utsname name = {0};
    char uid[16];

    if (!request->log)
        return;
    (void)uname(&name);
    (void)snprintf(uid, sizeof(uid), "%u", (unsigned)getuid());
    log_event(request->log, "start", MEMBER_TEXT("version", BAWN_VERSION),
              MEMBER_TEXT("kernel", name.release), MEMBER_TEXT("machine", name.machine),
              MEMBER_TEXT("uid", uid),
              MEMBER_TEXT("command", request->argv ? request->argv[0] : NULL),
              MEMBER_TEXT("plan", front->plan_fd >= 0 ? "just made" : "to be found"));
}

static void log_plan(const struct session_request *request, const char *from)
{
    const struct image *image = request->image;

    if (!request->log)
        return;
    log_event(request->log, "plan", MEMBER_TEXT("from", from),
              MEMBER_TEXT("workspace", image_string(image, image->workspace)),
              MEMBER_TEXT("enforcement", image_enforcement(image)),
              MEMBER_TEXT("proven", request->is_proven ? "yes" : "no"),
              MEMBER_TEXT("proven_on", image->release));
    image_each (image, PART_NOTES, uint32_t, note)
        log_event(request->log, "not-enforced", MEMBER_TEXT("rule", image_string(image, *note)));
}

static void log_end(const struct session_request *request, int status, const struct bawn_error *err)
{
    char text[16];

    if (!request->log)
        return;
    (void)snprintf(text, sizeof(text), "%d", status < 0 ? STATUS_FAILED : status);
    if (status < 0 || request->is_unrun)
        log_event(request->log, "end", MEMBER_TEXT("status", text), MEMBER_TEXT("code", err->code),
                  MEMBER_TEXT("error", err->message),
                  MEMBER_TEXT("stale", request->is_stale ? "yes" : NULL));
    else
        log_event(request->log, "end", MEMBER_TEXT("status", text));
}

static int run(struct front *front, char *const *argv, struct bawn_error *err)
{
    struct session_request request = {
        .environ = front->environ,
        .command_environ = front->environ,
        .argv = argv,
        .own_argv = front->argv,
        .preset = argv && words_have(preset_words, argv[0]) ? argv[0] : NULL,
        .wants_stats = options_has(&front->options, OPTION_STATS),
        .needs_output = front->json || options_has(&front->options, OPTION_REVIEW),
        .is_json = front->json,
        .is_quiet = front->quiet,
        .is_detached = options_has(&front->options, OPTION_DETACH),
        .owner_fd = front->owner_fd,
        .report_fd = -EBADF,
    };
    struct proof proof = {.sock = -EBADF};
    struct kept kept;
    bool is_new = front->plan_fd >= 0;
    struct log log = {.fd = -EBADF};
    struct feed feed = {.fd = -EBADF};
    int status = take_own_options(front, &request, &log, &feed, err);

    if (status == 0)
        status = give_variables(front, &request, err);
    if (status < 0)
        return status;
    log_start(front, &request);
    if (is_new) {
        status = take_plan(front, &request, &proof, err);
        if (status < 0) {
            log_end(&request, status, err);
            return status;
        }
    } else {
        cache_find(front, &kept);
        if (!kept.image) {
            log_event(request.log, "no-plan", MEMBER_TEXT("next", "the policy is read"));
            return cold_exec(front, err);
        }
        request.image = kept.image;
        request.is_proven = LAYERS_ALL && kept.image->flags & IMAGE_PROVEN;
        request.skeleton = *kept.skeleton.path ? &kept.skeleton : NULL;
        request.holds = cache_holds;
        request.holds_context = &kept;
    }
    /* What is said of the plan, and layers of the session's, are for one that holds. */
    if (!is_new && (request.image->dropped || layers_are_needed(request.image))) {
        if (cache_holds(&kept, NULL) < 0)
            return cold_exec(front, err);
        request.holds = NULL;
    }
    tell_dropped(front, request.image);
    log_plan(&request, is_new ? "policy" : "kept");
    status = request.is_detached ? detach(front, &request, err) : session_run(&request, err);
    proof_finish(&proof);
    if (status > 0 && request.is_unrun)
        (void)front_fail(front, err);
    log_end(&request, status, err);
    /* The host is not as it was when the plan was made: once more, from the policy. */
    if (status < 0 && !is_new && request.is_stale)
        return cold_exec(front, err);
    return status;
}

int front_shell(struct front *front, struct bawn_error *err)
{
    char *shell[] = {(char *)(uintptr_t)user_shell(front->environ), NULL};

    return run(front, shell, err);
}

int front_run(struct front *front, struct bawn_error *err)
{
    if (front->options.words.count == 0)
        return front->owner_fd < 0 ? front_shell(front, err) : run(front, NULL, err);
    if (!vec_push(&front->options.words, NULL))
        return error_memory(err);
    return run(front, (char *const *)(uintptr_t)front->options.words.items, err);
}
