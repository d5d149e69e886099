/* SPDX-License-Identifier: Apache-2.0 */
/* self_test.h: can the adversary be believed? */
#ifndef CBX_ADVERSARY_SELF_TEST_H
#define CBX_ADVERSARY_SELF_TEST_H

/* 0: the naive model agrees with the library, everything that counts is tried, and lies of every
 * kind are found out. */
int self_test(void);

#endif
