/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers on the stack that are written before they are read. The compiler fills
 * every other variable with zeros; here a page for each name of each path costs
 * more than all else that is done about the name.
 */
#ifndef BASE_SCRATCH_H
#define BASE_SCRATCH_H

#if __has_attribute(uninitialized)
#define scratch __attribute__((uninitialized))
#else
#define scratch
#endif

#endif
