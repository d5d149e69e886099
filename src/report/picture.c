/* SPDX-License-Identifier: Apache-2.0 */
/* picture.c */
#include "error.h"
#include "report.h"
cbx_status cbx_picture_write(const char *results, const cbx_report_source *source,
                             const char *format, const char *path, cbx_error *err)
{
    (void)results, (void)source, (void)path;
    return cbx_fail(err, CBX_INVALID, "no format %s", format);
}
