/* SPDX-License-Identifier: Apache-2.0 */
/* unfinished.h: temporary files that must be gone when a signal ends the program. */
#ifndef CBX_CLI_UNFINISHED_H
#define CBX_CLI_UNFINISHED_H

/* From now on signals that end the program remove this file first. The name must stay until
 * it is forgotten; NULL is nothing. */
void unfinished_add(char *name);
void unfinished_forget(const char *name);

/* Removes them all. For signal handlers. */
void unfinished_remove(void);

/* In between, such a signal waits. */
void unfinished_hold(void);
void unfinished_release(void);

#endif
