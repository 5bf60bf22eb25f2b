/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets masked in texts and in the words of command lines; and what is none stays as it is. */
#include "base/redact.h"
#include "lib/test.h"

#include <check.h>
#include <string.h>

static void text_becomes(const char *text, const char *wanted)
{
    autostrbuf struct strbuf out = {0};

    redact_text(&out, text);
    ck_assert_str_eq(out.text ? out.text : "", wanted);
}

/* Words with "|" between them. */
static void words_become(const char *line, const char *wanted)
{
    autostrbuf struct strbuf out = {0};
    struct redact_words words = {.next = REDACT_NOTHING};
    char copy[512];
    char *rest = copy;
    const char *word;

    (void)snprintf(copy, sizeof(copy), "%s", line);
    while ((word = strsep(&rest, "|"))) {
        redact_word(&words, &out, word);
        strbuf_add(&out, rest ? "|" : "");
    }
    ck_assert_str_eq(out.text, wanted);
}

#define TWENTY "abcdefghij0123456789"

START_TEST(passwords_in_urls)
{
    text_becomes("https://me:hunter2@host/x", "https://me:[masked]@host/x");
    text_becomes("a https://me:p@ss:w@host:1/ b", "a https://me:[masked]@host:1/ b");
    text_becomes("https://" TWENTY "@host/", "https://[masked]@host/");
    text_becomes("ssh://git@host/x", "ssh://git@host/x");
    text_becomes("https://host/a@b:c", "https://host/a@b:c");
    text_becomes("https://h/?access_token=abc&x=1#t", "https://h/?access_token=[masked]&x=1#t");
    text_becomes("https://h/?a=1&X-Amz-Signature=ff", "https://h/?a=1&X-Amz-Signature=[masked]");
    text_becomes("https://h/?tokens", "https://h/?tokens");
}
END_TEST

START_TEST(headers)
{
    text_becomes("Authorization: Bearer abc def\nHost: h", "Authorization: [masked]\nHost: h");
    text_becomes("proxy-authorization: Basic eA==", "proxy-authorization: [masked]");
    text_becomes("Cookie: a=1; b=2", "Cookie: [masked]");
    text_becomes("X-Api-Key: 12", "X-Api-Key: [masked]");
    text_becomes("with Bearer abcdefgh.ijk", "with Bearer [masked]");
    text_becomes("a bearer of news", "a bearer of news");
    text_becomes("Content-Type: text/plain", "Content-Type: text/plain");
}
END_TEST

START_TEST(names_that_sound_secret)
{
    text_becomes("DB_PASSWORD=x y", "DB_PASSWORD=[masked] y");
    text_becomes("GITHUB_TOKEN='a b' c", "GITHUB_TOKEN=[masked] c");
    text_becomes("{\"password\": \"a b\", \"x\": 1}", "{\"password\": [masked], \"x\": 1}");
    text_becomes("accessToken=1,b=2", "accessToken=[masked],b=2");
    text_becomes("KEY=1", "KEY=[masked]");
    text_becomes("AWS_SECRET_ACCESS_KEY=1", "AWS_SECRET_ACCESS_KEY=[masked]");
    text_becomes("MONKEY=1 PWD=/x author=me token= x", "MONKEY=1 PWD=/x author=me token= [masked]");
    text_becomes("SECRET=", "SECRET=");
    text_becomes("/etc/bawn/policy.yaml:3:4", "/etc/bawn/policy.yaml:3:4");
}
END_TEST

START_TEST(shapes_of_tokens)
{
    text_becomes("sk-" TWENTY, "sk-[masked]");
    text_becomes("x sk-ant-api03-" TWENTY "!", "x sk-[masked]!");
    text_becomes("ghp_" TWENTY ",", "ghp_[masked],");
    text_becomes("github_pat_" TWENTY, "github_pat_[masked]");
    text_becomes("xoxb-123456789-abc", "xoxb-[masked]");
    text_becomes("AKIAABCDEFGHIJ123456", "AKIA[masked]");
    text_becomes("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc_-x y", "[masked] y");
    text_becomes("a\n-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\nb",
                 "a\n[masked]\nb");
    text_becomes("-----BEGIN RSA PRIVATE KEY-----\nMII", "[masked]");
    text_becomes("task-" TWENTY, "task-" TWENTY);
    text_becomes("sk-short", "sk-short");
    text_becomes("AKIA", "AKIA");
    text_becomes("", "");
}
END_TEST

START_TEST(words_of_command_lines)
{
    words_become("curl|--token|abc|x", "curl|--token|[masked]|x");
    words_become("curl|--password=a b&c|x", "curl|--password=[masked]|x");
    words_become("env|API_KEY=a b|x", "env|API_KEY=[masked]|x");
    words_become("curl|-u|me:pw|h", "curl|-u|me:[masked]|h");
    words_become("curl|--user|me|h", "curl|--user|me|h");
    words_become("curl|-H|Authorization: token abc|h", "curl|-H|Authorization: [masked]|h");
    words_become("tool|--token|--verbose", "tool|--token|--verbose");
    words_become("git|clone|https://u:p@h/r", "git|clone|https://u:[masked]@h/r");
    words_become("psql|postgres://u:p@h/d?sslmode=a", "psql|postgres://u:[masked]@h/d?sslmode=a");
    words_become("sort|-k|2|-u|a", "sort|-k|2|-u|a");
    words_become("sh|-c|FOO_TOKEN=abc make all", "sh|-c|FOO_TOKEN=[masked]");
    words_become("sh|-c|cd x && A_TOKEN=abc make", "sh|-c|cd x && A_TOKEN=[masked] make");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("redact");
    TCase *tcase = tcase_create("redact");

    tcase_add_test(tcase, passwords_in_urls);
    tcase_add_test(tcase, headers);
    tcase_add_test(tcase, names_that_sound_secret);
    tcase_add_test(tcase, shapes_of_tokens);
    tcase_add_test(tcase, words_of_command_lines);
    suite_add_tcase(suite, tcase);
    return test_run(suite, "redact");
}
