/* SPDX-License-Identifier: Apache-2.0 */
/* error.c: messages. */
#include "error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "number.h"
#include "utf8.h"

void cbx_message(char message[CBX_MESSAGE_SIZE], const char *format, va_list args)
{
    char text[CBX_MESSAGE_SIZE + 4]; /* longer: a character that is cut here is not shown */
    (void)cbx_vprint(text, sizeof text, format, args);
    (void)cbx_text_show(message, CBX_MESSAGE_SIZE, text);
}

cbx_status(cbx_fail)(cbx_error *err, cbx_status status, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        err->status = status;
        err->option[0] = '\0';
        cbx_message(err->message, format, args);
        va_end(args);
    }
    return status;
}

cbx_status(cbx_fail_memory)(cbx_error *err)
{
    return cbx_fail(err, CBX_NO_MEMORY, "out of memory");
}

cbx_status(cbx_fail_errno)(cbx_error *err, const char *path, const char *what)
{
    int        code = errno;
    char       reason[128];
    cbx_locale locale = cbx_locale_begin(); /* one language a message */
    /* strerror_r comes in two shapes; the POSIX one is what the feature macros ask for. */
    if (strerror_r(code, reason, sizeof reason) != 0)
        (void)snprintf(reason, sizeof reason, "error %d", code);
    cbx_locale_end(locale);
    return cbx_fail(err, CBX_IO, "%s: cannot %s: %s", path, what, reason);
}

void cbx_error_prefix(cbx_error *err, const char *prefix)
{
    if (!err)
        return;
    char   kept[CBX_MESSAGE_SIZE], shown[CBX_MESSAGE_SIZE];
    size_t room = sizeof err->message;
    memcpy(kept, err->message, room);
    size_t length = cbx_text_show(shown, sizeof shown, prefix);
    if (length + 3 > room)
        return;
    memcpy(err->message, shown, length);
    memcpy(err->message + length, ": ", 2);
    (void)cbx_text_show(err->message + length + 2, room - length - 2, kept);
}
