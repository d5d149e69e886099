/* SPDX-License-Identifier: Apache-2.0 */
/* run.c: the page of many targets. */
#include "error.h"
#include "report.h"

cbx_status cbx_report_run(const cbx_report *report, const char *path, cbx_error *err)
{
    return cbx_fail(err, CBX_INVALID, "%s: a page shows one target, and these results have %zu",
                    path, report->targets);
}
