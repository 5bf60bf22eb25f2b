/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that have a safe form, made into compile errors. Included by the build for every file. */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* With _FORTIFY_SOURCE some of them are macros already: taken away first. */
#undef strcpy
#undef strcat
#undef strncpy
#undef strncat
#undef sprintf
#undef vsprintf
#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf gets strtok
#pragma GCC poison atoi atol atoll system popen mktemp tmpnam tempnam
#pragma GCC poison asctime ctime gmtime localtime

#endif
