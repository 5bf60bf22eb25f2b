/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user's login at the upstream proxy.
 *
 * How it works: it is a line USER:PASSWORD in the file proxy-login beside the user's policy. No
 * policy names the file or has what is in it, so that no plan, no export and no project does
 * either. Every policy hides the file. It is read whenever bawn-net starts, and handed to that
 * alone.
 */
#ifndef SESSION_LOGIN_H
#define SESSION_LOGIN_H

#include <bawn/error.h>
#include <stddef.h>

/* variables: the caller's. Returns the length, without a line end and with a NUL behind it; 0:
 * there is no such file. */
int login_read(char *const *variables, char *text, size_t size, struct bawn_error *err);

#endif
