/* SPDX-License-Identifier: Apache-2.0 */
/* Which addresses may be asked. tests/cli/fetch.sh does the asking. */
#include "download.h"

#include <stddef.h>

#include "test.h"

TEST(https_may_be_asked_anywhere_and_http_of_this_machine_only)
{
    static const char *const yes[] = {"https://example.org/x",   "HTTPS://example.org",
                                      "http://127.0.0.1:80/x",   "http://localhost/x",
                                      "http://LOCALHOST:8/",     "http://[::1]/x",
                                      "http://[::1]:8080/x",     "http://user:word@127.0.0.1/x",
                                      "http://user@[::1]:80?q#", "http://127.0.0.1"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!CHECK(cbx_url_allowed(yes[i])))
            test_check(false, __FILE__, __LINE__, yes[i]);
    static const char *const no[] = {"http://example.org/x",
                                     "ftp://127.0.0.1/x",
                                     "file:///etc/passwd",
                                     "",
                                     "http://",
                                     "http://127.0.0.1.example.org/",
                                     "http://127.0.0.1@example.org/",
                                     "http://localhost:80@example.org/",
                                     "http://a@[::1]@example.org/",
                                     "http://a@127.0.0.1@example.org/",
                                     "http://[::1].example.org/",
                                     "http://[::1",
                                     "http://example.org\\@127.0.0.1/",
                                     "http://example.org#@127.0.0.1/",
                                     "http://example.org?http://127.0.0.1/",
                                     "httpx://127.0.0.1/"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (!CHECK(!cbx_url_allowed(no[i])))
            test_check(false, __FILE__, __LINE__, no[i]);
}

TEST(https_leads_to_nothing_less)
{
    CHECK(cbx_url_may_lead("https://a.org/", "https://b.org/"));
    CHECK(cbx_url_may_lead("http://127.0.0.1/", "https://b.org/"));
    CHECK(cbx_url_may_lead("http://127.0.0.1/", "http://127.0.0.1/b"));
    CHECK(!cbx_url_may_lead("https://a.org/", "http://b.org/"));
    CHECK(!cbx_url_may_lead("https://a.org/", "http://127.0.0.1/"));
    CHECK(!cbx_url_may_lead("HTTPS://a.org/", "http://localhost/"));
    CHECK(!cbx_url_may_lead("https://a.org/", "file:///etc/passwd"));
    CHECK(!cbx_url_may_lead("http://127.0.0.1/", "http://b.org/"));
}
