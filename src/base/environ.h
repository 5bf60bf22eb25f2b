/* SPDX-License-Identifier: Apache-2.0 */
/* An environment: strings "NAME=VALUE", ended by NULL. */
#ifndef BASE_ENVIRON_H
#define BASE_ENVIRON_H

/* The value of a variable, or NULL; variables may be NULL. */
const char *environ_get(char *const *variables, const char *name);

/* NULL when out of memory. Free with environ_free. */
char **environ_copy(const char *const *variables);
void environ_free(char **variables);

#endif
