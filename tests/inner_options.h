/* SPDX-License-Identifier: Apache-2.0 */
/* inner_options.h: options as they are inside, which tests of a room fill in as its code does. What
 * users do with names is tests/core/test_options.c's, tests/api's and the command line's to try. */
#ifndef CBX_TESTS_INNER_OPTIONS_H
#define CBX_TESTS_INNER_OPTIONS_H

#include "bench_options.h"
#include "explain_options.h"
#include "fetch_options.h"
#include "generate_options.h"
#include "model_options.h"
#include "read_options.h"
#include "report.h"

#endif
