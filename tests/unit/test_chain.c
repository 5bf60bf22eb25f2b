/* SPDX-License-Identifier: Apache-2.0 */
/* The chain of an audit trail: what follows, and what is wrong with what does not. */
#include "base/json.h"
#include "lib/test.h"
#include "wire/chain.h"

#include <check.h>
#include <string.h>

/* Three records, and what the chain is before each. */
static struct strbuf lines[3];
static struct chain chains[4];

static void make(void)
{
    chain_init(&chains[0]);
    for (int i = 0; i < 3; i++) {
        chain_open(&chains[i], &lines[i]);
        json_put_string(&lines[i], "event", i == 2 ? "end" : "refused");
        chain_seal(&chains[i], &lines[i], &chains[i + 1]);
        ck_assert(!lines[i].failed);
    }
}

static void done(void)
{
    for (int i = 0; i < 3; i++)
        strbuf_done(&lines[i]);
}

static enum chain_fault check(int before, const char *line, uint64_t *number)
{
    struct chain after;

    return chain_check(&chains[before], line, strcspn(line, "\n"), number, &after);
}

/* With another implementation: printf '%s' '{"seq": 1, ...' | sha256sum. */
START_TEST(a_record_has_its_number_first_and_its_hashes_last)
{
    ck_assert_str_eq(lines[0].text,
                     "{\"seq\": 1, \"event\": \"refused\", \"prev\": "
                     "\"0000000000000000000000000000000000000000000000000000000000000000\", "
                     "\"hash\": "
                     "\"3135520aecd449b9f5b7d9dee66d9bbafb8501689ea5b10c6b9fa4009fb32407\"}\n");
}
END_TEST

START_TEST(records_follow_each_other)
{
    uint64_t number;

    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(check(i, lines[i].text, &number), CHAIN_FINE);
        ck_assert_uint_eq(number, (uint64_t)i + 1);
    }
}
END_TEST

START_TEST(what_is_wrong_is_told)
{
    uint64_t number;
    char *at = strstr(lines[1].text, "refused");

    ck_assert_int_eq(check(0, lines[1].text, &number), CHAIN_ORDER);
    ck_assert_uint_eq(number, 2);
    ck_assert_int_eq(check(2, lines[0].text, &number), CHAIN_ORDER);
    chains[1].hash[5] ^= 1;
    ck_assert_int_eq(check(1, lines[1].text, &number), CHAIN_PREV);
    *at = 'R';
    ck_assert_int_eq(check(1, lines[1].text, &number), CHAIN_EDITED);
    ck_assert_int_eq(check(0, "", &number), CHAIN_FORM);
    ck_assert_int_eq(check(0, "{\"seq\": 1}", &number), CHAIN_FORM);
    lines[0].text[lines[0].length - 2] = ' ';
    ck_assert_int_eq(check(0, lines[0].text, &number), CHAIN_FORM);
}
END_TEST

/* No byte of a record can be another one. */
START_TEST(every_byte_counts)
{
    uint64_t number;

    for (size_t i = 0; i + 1 < lines[0].length; i++) {
        lines[0].text[i] ^= 1;
        ck_assert_msg(check(0, lines[0].text, &number) != CHAIN_FINE, "byte %zu", i);
        lines[0].text[i] ^= 1;
    }
    ck_assert_int_eq(check(0, lines[0].text, &number), CHAIN_FINE);
}
END_TEST

START_TEST(a_head_is_read_as_it_was_written)
{
    char bytes[CHAIN_HEAD_BYTES + 1];
    struct chain head;

    chain_put_head(&chains[3], bytes);
    ck_assert_uint_eq(strlen(bytes), CHAIN_HEAD_BYTES);
    ck_assert(strncmp(bytes, "00000000000000000003 ", 21) == 0);
    ck_assert(chain_read_head(bytes, CHAIN_HEAD_BYTES, &head));
    ck_assert_uint_eq(head.count, 3);
    ck_assert_str_eq(head.hash, chains[3].hash);
    ck_assert(!chain_read_head(bytes, CHAIN_HEAD_BYTES - 1, &head));
    bytes[25] = 'x';
    ck_assert(!chain_read_head(bytes, CHAIN_HEAD_BYTES, &head));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("chain");
    TCase *tcase = tcase_create("chain");

    tcase_add_checked_fixture(tcase, make, done);
    tcase_add_test(tcase, a_record_has_its_number_first_and_its_hashes_last);
    tcase_add_test(tcase, records_follow_each_other);
    tcase_add_test(tcase, what_is_wrong_is_told);
    tcase_add_test(tcase, every_byte_counts);
    tcase_add_test(tcase, a_head_is_read_as_it_was_written);
    suite_add_tcase(suite, tcase);
    return test_run(suite, "chain");
}
