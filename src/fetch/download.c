/* SPDX-License-Identifier: Apache-2.0 */
/* download.c: see download.h. */
#include "download.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "sha256.h"
#include "word.h"

cbx_status cbx_file_sha256(const char *path, char hex[65], cbx_error *err)
{
    unsigned char chunk[1 << 14];
    cbx_sha256    sha;
    FILE         *f = fopen(path, "rb");
    size_t        got;
    if (!f)
        return cbx_fail_errno(err, path, "open");
    cbx_sha256_init(&sha);
    while ((got = fread(chunk, 1, sizeof chunk, f)))
        cbx_sha256_add(&sha, chunk, got);
    bool failed = ferror(f) != 0;
    (void)fclose(f);
    cbx_sha256_hex(&sha, hex);
    return failed ? cbx_fail_errno(err, path, "read") : CBX_OK;
}

/* The host of an address, without user, port and brackets; "" where that is not clear:
 * what libcurl would make of it is not to be guessed. */
static void host_of(const char *url, char *host, size_t size)
{
    const char *at = strstr(url, "://");
    at = at ? at + 3 : url;
    size_t      length = strcspn(at, "/?#");
    const char *user = memchr(at, '@', length);
    host[0] = '\0';
    if (memchr(at, '\\', length)) /* to some a slash */
        return;
    if (user) {
        length -= (size_t)(user + 1 - at);
        at = user + 1;
    }
    if (memchr(at, '@', length))
        return;
    size_t inside = *at == '[' ? strcspn(at, "]") + 1 : strcspn(at, ":");
    if (inside > length)
        inside = length;
    if (inside < length && at[inside] != ':')
        return;
    if (*at == '[') {
        at++;
        inside = inside < 2 ? 0 : inside - 2;
    }
    (void)snprintf(host, size, "%.*s", (int)inside, at);
}

static bool is_https(const char *url)
{
    return cbx_same_start(url, "https://", 8);
}

bool cbx_url_allowed(const char *url)
{
    char host[256];
    if (is_https(url))
        return true;
    if (!cbx_same_start(url, "http://", 7))
        return false;
    host_of(url, host, sizeof host);
    return !strcmp(host, "127.0.0.1") || !strcmp(host, "::1") || cbx_same_word(host, "localhost");
}

bool cbx_url_may_lead(const char *from, const char *to)
{
    return is_https(from) ? is_https(to) : cbx_url_allowed(to);
}

#ifdef CBX_HAVE_CURL
#include <curl/curl.h>

enum { MOST_REDIRECTIONS = 10, TRIES = 4 };

typedef struct transfer {
    cbx_download *d;
    char         *part; /* PATH.part */
    FILE         *file;
    int64_t       had; /* bytes that were there before */
    bool          cancelled, disk_full;
    CURL         *curl;
    cbx_error    *err;
} transfer;

static size_t on_bytes(char *bytes, size_t size, size_t count, void *user)
{
    transfer *t = user;
    long      code = 0;
    (void)curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &code);
    if (code >= 300) /* the text of an error is not the file */
        return size * count;
    if (code == 200 && t->had) { /* asked for the rest, and sent all of it */
        t->had = 0;
        if (fseeko(t->file, 0, SEEK_SET) || ftruncate(fileno(t->file), 0))
            return 0;
    }
    size_t wrote = fwrite(bytes, size, count, t->file);
    t->disk_full = wrote < count;
    return wrote * size;
}

static int on_progress(void *user, curl_off_t total, curl_off_t now, curl_off_t a, curl_off_t b)
{
    transfer *t = user;
    (void)a, (void)b;
    if (t->d->progress && t->d->progress(t->d->user, t->had + now, total ? t->had + total : 0,
                                         t->d->text ? t->d->text : ""))
        t->cancelled = true;
    return t->cancelled;
}

static void set_up(transfer *t, const char *url)
{
    CURL *c = t->curl;
    (void)curl_easy_setopt(c, CURLOPT_URL, url);
    (void)curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 1L); /* the default, and to stay so */
    (void)curl_easy_setopt(c, CURLOPT_SSL_VERIFYHOST, 2L);
    (void)curl_easy_setopt(c, CURLOPT_USERAGENT, "combinex");
    (void)curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_bytes);
    (void)curl_easy_setopt(c, CURLOPT_WRITEDATA, t);
    (void)curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
    (void)curl_easy_setopt(c, CURLOPT_XFERINFODATA, t);
    (void)curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
    (void)curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L); /* each step is looked at */
    (void)curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)(t->d->timeout * 1000));
    (void)curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
    (void)curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME,
                           t->d->timeout < 1 ? 1L : (long)(t->d->timeout + 0.5));
    (void)curl_easy_setopt(c, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)t->had);
    if (cbx_same_start(url, "http://", 7)) /* this machine: not through a proxy */
        (void)curl_easy_setopt(c, CURLOPT_NOPROXY, "*");
}

static cbx_status explain(transfer *t, const char *url, CURLcode code)
{
    char host[256];
    host_of(url, host, sizeof host);
    switch (code) {
    case CURLE_OUT_OF_MEMORY:
        return cbx_fail_memory(t->err);
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
        return cbx_fail(t->err, CBX_IO,
                        "cannot reach %s: is this computer online? (%s) A file fetched elsewhere "
                        "can be put at %s",
                        host, curl_easy_strerror(code), t->d->path);
    case CURLE_OPERATION_TIMEDOUT:
        return cbx_fail(t->err, CBX_IO,
                        "%s sent nothing for %.3g seconds; what came is kept, and the next try "
                        "goes on from there",
                        host, t->d->timeout);
    case CURLE_WRITE_ERROR:
        return cbx_fail_errno(t->err, t->part, "write");
    default:
        return cbx_fail(t->err, CBX_IO,
                        "%s: %s; what came is kept, and the next try goes on "
                        "from there",
                        url, curl_easy_strerror(code));
    }
}

/* One request. *next is where it leads on, to be freed; *again: it broke off. */
static cbx_status request(transfer *t, const char *url, char **next, bool *again)
{
    long  code = 0;
    char *to = NULL;
    *next = NULL;
    *again = false;
    set_up(t, url);
    CURLcode result = curl_easy_perform(t->curl);
    (void)curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &code);
    (void)curl_easy_getinfo(t->curl, CURLINFO_REDIRECT_URL, &to);
    if (fflush(t->file) && !t->disk_full)
        return cbx_fail_errno(t->err, t->part, "write");
    if (t->cancelled)
        return cbx_fail(t->err, CBX_CANCELLED, "cancelled; what came is kept");
    *again = result == CURLE_PARTIAL_FILE || result == CURLE_RECV_ERROR ||
             result == CURLE_GOT_NOTHING || result == CURLE_HTTP2_STREAM;
    if (result == CURLE_RANGE_ERROR || code == 416) {
        /* there is no rest: it was complete, or is another file now */
        if (t->had == 0)
            return cbx_fail(t->err, CBX_IO, "%s: the server answered %ld", url, code);
        t->had = 0;
        *again = true;
        return ftruncate(fileno(t->file), 0) ? cbx_fail_errno(t->err, t->part, "write") : CBX_OK;
    }
    if (result)
        return explain(t, url, result);
    if (code >= 300 && code < 400 && to) {
        if (!cbx_url_may_lead(url, to))
            return cbx_fail(t->err, CBX_IO, "%s leads on to %.200s, which is not https", url, to);
        *next = strdup(to);
        return *next ? CBX_OK : cbx_fail_memory(t->err);
    }
    if (code != 200 && code != 206)
        return cbx_fail(t->err, CBX_IO, "%s: the server answered %ld%s", url, code,
                        code == 404 ? " (not found)" : "");
    return CBX_OK;
}

/* Follows redirections, and goes on where it broke off. */
static cbx_status transfer_all(transfer *t)
{
    char      *url = strdup(t->d->url), *next;
    int        tries = 0, steps = 0;
    cbx_status status = url ? CBX_OK : cbx_fail_memory(t->err);
    while (!status) {
        bool again;
        if (fseeko(t->file, 0, SEEK_END)) {
            status = cbx_fail_errno(t->err, t->part, "write");
            break;
        }
        t->had = (int64_t)ftello(t->file);
        status = request(t, url, &next, &again);
        if (again && ++tries < TRIES) {
            status = CBX_OK;
            continue;
        }
        if (status || !next)
            break;
        free(url);
        url = next;
        if (++steps > MOST_REDIRECTIONS)
            status = cbx_fail(t->err, CBX_IO, "%s: more than %d redirections", t->d->url,
                              MOST_REDIRECTIONS);
    }
    free(url);
    return status;
}

/* What is there may be gone on with, but not through a link, which may lead anywhere. */
static cbx_status open_part(transfer *t, bool *resumed)
{
    struct stat info;
    int         fd = open(t->part, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (fd < 0 && errno == ELOOP)
        return cbx_fail(t->err, CBX_IO, "%s: a link, through which nothing is written", t->part);
    if (fd < 0)
        return cbx_fail_errno(t->err, t->part, "write");
    bool sound = !fstat(fd, &info) && S_ISREG(info.st_mode);
    t->file = sound ? fdopen(fd, "r+b") : NULL;
    if (t->file) {
        *resumed = info.st_size > 0;
        return CBX_OK;
    }
    (void)close(fd);
    return sound ? cbx_fail_memory(t->err)
                 : cbx_fail(t->err, CBX_IO, "%s: not a regular file", t->part);
}

static cbx_status transfer_once(transfer *t, bool *resumed)
{
    cbx_status opened = open_part(t, resumed);
    if (opened)
        return opened;
    cbx_status status = transfer_all(t);
    if (fclose(t->file) && !status)
        status = cbx_fail_errno(t->err, t->part, "write");
    return status;
}

static cbx_status check_sum(transfer *t)
{
    cbx_status status = cbx_file_sha256(t->part, t->d->sum, t->err);
    if (status || !t->d->sha256 || !*t->d->sha256 || cbx_same_word(t->d->sum, t->d->sha256))
        return status;
    (void)unlink(t->part);
    return cbx_fail(t->err, CBX_INVALID,
                    "%s: not the file that was expected: its SHA-256 is %s, it should be %s; it "
                    "was thrown away",
                    t->d->url, t->d->sum, t->d->sha256);
}

static cbx_status run(transfer *t)
{
    bool       resumed;
    cbx_status status = transfer_once(t, &resumed);
    if (!status)
        status = check_sum(t);
    if (status == CBX_INVALID && resumed) { /* the beginning may have been another file's */
        status = transfer_once(t, &resumed);
        if (!status)
            status = check_sum(t);
    }
    if (!status && rename(t->part, t->d->path))
        status = cbx_fail_errno(t->err, t->d->path, "write");
    return status;
}

cbx_status cbx_download_run(cbx_download *d, cbx_error *err)
{
    transfer   t = {.d = d, .err = err};
    size_t     size = strlen(d->path) + 8;
    cbx_status status = CBX_OK;
    if (!cbx_url_allowed(d->url))
        return cbx_fail(err, CBX_INVALID, "%s: only https addresses are fetched from", d->url);
    t.part = malloc(size);
    t.curl = curl_easy_init();
    if (!t.part || !t.curl)
        status = cbx_fail_memory(err);
    if (!status) {
        (void)snprintf(t.part, size, "%s.part", d->path);
        status = run(&t);
    }
    if (t.curl)
        curl_easy_cleanup(t.curl);
    free(t.part);
    return status;
}
#else
cbx_status cbx_download_run(cbx_download *d, cbx_error *err)
{
    return cbx_fail(err, CBX_INVALID,
                    "%s: this combinex was built without libcurl, which downloads", d->url);
}
#endif
