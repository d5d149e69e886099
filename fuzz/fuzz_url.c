/* SPDX-License-Identifier: Apache-2.0 */
/* An address: one that may be asked without https is of this machine, as libcurl, which
 * will do the asking, understands it. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "download.h"
#include "fuzz.h"

#ifdef CBX_HAVE_CURL
#include <curl/curl.h>

static void compare(const char *text)
{
    CURLU *url = curl_url();
    char  *scheme = NULL, *host = NULL;
    if (url && !curl_url_set(url, CURLUPART_URL, text, 0) &&
        !curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) &&
        !curl_url_get(url, CURLUPART_HOST, &host, 0) && strcasecmp(scheme, "https") != 0 &&
        (strcasecmp(scheme, "http") != 0 ||
         (strcmp(host, "127.0.0.1") != 0 && strcmp(host, "[::1]") != 0 &&
          strcasecmp(host, "localhost") != 0)))
        fuzz_stop("%s would be asked of %s by %s", text, host, scheme);
    curl_free(scheme);
    curl_free(host);
    curl_url_cleanup(url);
}
#else
static void compare(const char *text)
{
    (void)text;
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = fuzz_text(bytes, size);
    if (cbx_url_allowed(text))
        compare(text);
    free(text);
    return 0;
}
