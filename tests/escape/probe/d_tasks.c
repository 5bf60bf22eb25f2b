/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every task that /proc shows is allowed to do: one line a task, with the
 * words that must be zero, and no_new_privs and the filter's mode.
 *   d_tasks            as it is
 *   d_tasks threads    with eight threads and a forked child of one's own
 */
#include "d_attempt.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>

enum { THREADS = 8 };

static void *stay(void *context)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    (void)context;
    pthread_mutex_lock(&lock);
    say("thread-unshare", syscall(SYS_unshare, CLONE_NEWUSER));
    pthread_mutex_unlock(&lock);
    pause();
    return NULL;
}

static void one_task(const char *pid, const char *tid)
{
    char path[600], line[256], word[32], caps[8] = "";
    const char *nnp = "?", *mode = "?";
    FILE *status;

    snprintf(path, sizeof(path), "/proc/%s/task/%s/status", pid, tid);
    status = fopen(path, "re");
    if (!status)
        return;
    while (fgets(line, sizeof(line), status)) {
        if (strncmp(line, "Cap", 3) == 0 && strspn(line + 8, "0") != 16)
            snprintf(caps, sizeof(caps), "%.6s", line);
        if (strncmp(line, "NoNewPrivs:", 11) == 0)
            nnp = line[12] == '1' ? "1" : "0";
        if (strncmp(line, "Seccomp:", 8) == 0)
            mode = line[9] == '2' ? "2" : "0";
    }
    fclose(status);
    snprintf(word, sizeof(word), "%s/%s/%s", caps[0] ? caps : "0", nnp, mode);
    verdict_say(word, strcmp(pid, "1") == 0 ? "pid1" : "task");
}

static void each_entry(const char *dir_path, void (*visit)(const char *, const char *),
                       const char *pid)
{
    DIR *dir = opendir(dir_path);
    struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            visit(pid ? pid : entry->d_name, entry->d_name);
    if (dir)
        closedir(dir);
}

static void one_process(const char *pid, const char *name)
{
    char path[300];

    (void)name;
    snprintf(path, sizeof(path), "/proc/%s/task", pid);
    each_entry(path, one_task, pid);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    pid_t child = 0;

    if (argc > 1 && strcmp(argv[1], "threads") == 0) {
        for (int i = 0; i < THREADS; i++)
            if (pthread_create(&thread, NULL, stay, NULL) != 0)
                return 1;
        child = fork();
        if (child == 0) {
            pause();
            _exit(0);
        }
        usleep(200 * 1000);
    }
    each_entry("/proc", one_process, NULL);
    if (child > 0)
        kill(child, SIGKILL);
    return 0;
}
