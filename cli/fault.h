/* SPDX-License-Identifier: Apache-2.0 */
/* fault.h: a file that is cut short while it is mapped.
 *
 * Native graph files are mapped, not copied. If another program truncates one, or its
 * disk fails, reading it raises SIGBUS, which ends a program without a word. The library
 * installs no handlers, since signals belong to the program; this program does. There is
 * no way back into the middle of a computation whose data is gone, so the handler removes
 * the unfinished output, says what happened and exits with status 1. What can go on
 * although files change is a copy in memory: --copy. */
#ifndef CBX_CLI_FAULT_H
#define CBX_CLI_FAULT_H

/* `path`, which must stay until fault_forget, may be mapped from now on. */
void fault_watch(const char *path);
void fault_forget(const char *path);

#endif
