/* SPDX-License-Identifier: Apache-2.0 */
/* Files that appear whole or not at all: whatever goes wrong, the old content stays
 * and nothing is left beside it. */
#include "atomic_file.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "neighbour.h"
#include "test.h"

/* Files in the test's folder. */
static int files_here(void)
{
    int  count = 0;
    DIR *dir = opendir(test_path(""));
    for (struct dirent *e; dir && (e = readdir(dir));)
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (dir)
        (void)closedir(dir);
    return count;
}

static bool holds(const char *path, const char *text)
{
    size_t         size = 0;
    unsigned char *bytes = test_read_file(path, &size);
    bool           same = bytes && size == strlen(text) && !memcmp(bytes, text, size);
    free(bytes);
    return same;
}

/* The last test sets it: all of this must hold for files with names, too. */
static bool named;

static cbx_status open_file(cbx_atomic_file *file, const char *path, cbx_error *err)
{
    return named ? cbx_atomic_open_named(file, path, err) : cbx_atomic_open(file, path, err);
}

static cbx_status save(const char *path, const char *text, cbx_error *err)
{
    cbx_atomic_file file;
    cbx_status      status = open_file(&file, path, err);
    if (!status)
        status = cbx_atomic_write(&file, text, strlen(text), err);
    if (status)
        cbx_atomic_abandon(&file);
    else
        status = cbx_atomic_commit(&file, err);
    CHECK(file.path == NULL && file.temporary == NULL && file.fd == -1);
    return status;
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    return stat(path, &st) ? 0 : st.st_mode & 07777;
}

TEST(a_new_file_holds_what_was_written_and_nothing_lies_beside_it)
{
    const char *path = test_path("new");
    mode_t      mask = umask(027);
    (void)unlink(path);
    int       before = files_here();
    cbx_error err = {0};
    CHECK_OK(save(path, "hello", &err), err);
    CHECK(holds(path, "hello"));
    CHECK_INT(files_here(), before + 1);
    CHECK_INT(mode_of(path), 0640); /* what the umask leaves of 0666 */
    (void)umask(mask);
    CHECK_OK(save(path, "", &err), err);
    CHECK(holds(path, ""));
    CHECK_INT(files_here(), before + 1);
}

TEST(the_old_content_stays_until_the_commit)
{
    const char     *path = test_path("staged");
    cbx_atomic_file file;
    test_write_file(path, "old", 3);
    int before = files_here();
    CHECK_INT(open_file(&file, path, NULL), CBX_OK);
    CHECK_INT(cbx_atomic_write(&file, "ne", 2, NULL), CBX_OK);
    CHECK_INT(cbx_atomic_write(&file, "", 0, NULL), CBX_OK);
    CHECK_INT(cbx_atomic_write(&file, "w!", 2, NULL), CBX_OK);
    CHECK(holds(path, "old"));
    CHECK_INT(files_here(), before + (file.temporary ? 1 : 0));
    CHECK_INT(cbx_atomic_commit(&file, NULL), CBX_OK);
    CHECK(holds(path, "new!"));
    CHECK_INT(files_here(), before);
}

TEST(an_abandoned_file_leaves_the_old_content_and_no_trace)
{
    const char     *path = test_path("abandoned");
    cbx_atomic_file file;
    test_write_file(path, "old", 3);
    int before = files_here();
    CHECK_INT(open_file(&file, path, NULL), CBX_OK);
    CHECK_INT(cbx_atomic_write(&file, "new", 3, NULL), CBX_OK);
    cbx_atomic_abandon(&file);
    CHECK(holds(path, "old"));
    CHECK_INT(files_here(), before);
    cbx_atomic_abandon(&file); /* again: nothing to do */
    CHECK(holds(path, "old"));
}

TEST(a_commit_that_cannot_rename_leaves_the_old_content_and_no_trace)
{
    const char     *path = test_path("unrenamed");
    cbx_atomic_file file;
    cbx_error       err = {0};
    test_write_file(path, "old", 3);
    int before = files_here();
    CHECK_INT(open_file(&file, path, NULL), CBX_OK);
    if (file.temporary)
        CHECK_INT(unlink(file.temporary), 0);
    else /* a folder has come into its place */
        CHECK(!unlink(path) && !mkdir(path, 0700));
    CHECK_INT(cbx_atomic_commit(&file, &err), CBX_IO);
    CHECK_CONTAINS(err.message, path);
    CHECK(!rmdir(path) || holds(path, "old"));
    test_write_file(path, "old", 3);
    CHECK_INT(files_here(), before);
    CHECK(file.path == NULL && file.temporary == NULL);
}

TEST(a_commit_that_cannot_sync_leaves_the_old_content_and_no_trace)
{
    const char     *path = test_path("unsynced");
    cbx_atomic_file file;
    cbx_error       err = {0};
    test_write_file(path, "old", 3);
    int before = files_here();
    CHECK_INT(open_file(&file, path, NULL), CBX_OK);
    CHECK_INT(close(file.fd), 0); /* the disk is gone */
    CHECK_INT(cbx_atomic_commit(&file, &err), CBX_IO);
    CHECK_CONTAINS(err.message, path);
    CHECK(holds(path, "old"));
    CHECK_INT(files_here(), before);
}

TEST(a_replaced_file_keeps_its_permissions)
{
    const char *path = test_path("permissions");
    mode_t      modes[] = {0600, 0644, 0666, 0755, 0400, 0000};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        (void)unlink(path);
        test_write_file(path, "old", 3);
        CHECK_INT(chmod(path, modes[i]), 0);
        CHECK_INT(save(path, "new", NULL), CBX_OK);
        CHECK_INT(mode_of(path), modes[i]);
        CHECK_INT(chmod(path, 0600), 0);
        CHECK(holds(path, "new"));
    }
}

TEST(a_symbolic_link_stays_and_its_target_is_replaced)
{
    const char *target = test_path("target"), *hop = test_path("hop"), *path = test_path("link");
    struct stat st;
    (void)unlink(hop), (void)unlink(path);
    test_write_file(target, "old", 3);
    CHECK_INT(symlink("target", hop), 0);
    CHECK_INT(symlink(hop, path), 0);
    int before = files_here();
    CHECK_INT(save(path, "new", NULL), CBX_OK);
    CHECK(lstat(path, &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(lstat(hop, &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(lstat(target, &st) == 0 && S_ISREG(st.st_mode));
    CHECK(holds(target, "new"));
    CHECK_INT(files_here(), before);
}

TEST(a_link_to_a_file_that_is_not_there_stays_and_the_file_is_made)
{
    const char *target = test_path("unborn"), *hop = test_path("hop2"), *path = test_path("link2");
    struct stat st;
    (void)unlink(hop), (void)unlink(path), (void)unlink(target);
    CHECK_INT(symlink(target, hop), 0);
    CHECK_INT(symlink("hop2", path), 0);
    int before = files_here();
    CHECK_INT(save(path, "new", NULL), CBX_OK);
    CHECK(lstat(path, &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(lstat(hop, &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(lstat(target, &st) == 0 && S_ISREG(st.st_mode));
    CHECK(holds(target, "new"));
    CHECK_INT(files_here(), before + 1);
}

TEST(links_that_lead_nowhere_stay_and_are_an_error)
{
    const char *one = test_path("round"), *two = test_path("about"), *away = test_path("away");
    (void)unlink(one), (void)unlink(two), (void)unlink(away);
    CHECK_INT(symlink("about", one), 0);
    CHECK_INT(symlink("round", two), 0);
    CHECK_INT(symlink("no/such/folder", away), 0);
    cbx_error err = {0};
    int       before = files_here();
    CHECK_INT(save(one, "new", &err), CBX_IO);
    CHECK_CONTAINS(err.message, one);
    CHECK_CONTAINS(err.message, "Too many levels");
    CHECK_INT(save(away, "new", &err), CBX_IO);
    CHECK_CONTAINS(err.message, "no/such/folder: cannot write: No such file");
    CHECK_INT(files_here(), before);
    CHECK(!unlink(one) && !unlink(two) && !unlink(away));
}

TEST(a_name_may_be_as_long_as_names_can_be)
{
    char name[256], path[1024];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    (void)snprintf(path, sizeof path, "%s", test_path(name));
    CHECK_INT(save(path, "new", NULL), CBX_OK);
    CHECK(holds(path, "new"));
    CHECK_INT(save(path, "newer", NULL), CBX_OK);
    CHECK(holds(path, "newer"));
    CHECK_INT(unlink(path), 0);
}

TEST(a_hard_link_keeps_the_old_content)
{
    const char *path = test_path("shared"), *other = test_path("other");
    (void)unlink(other);
    test_write_file(path, "old", 3);
    CHECK_INT(link(path, other), 0);
    CHECK_INT(save(path, "new", NULL), CBX_OK);
    CHECK(holds(path, "new"));
    CHECK(holds(other, "old"));
}

static void check_refused(const char *path, const char *reason)
{
    cbx_error err = {0};
    int       before = files_here();
    CHECK_INT(save(path, "new", &err), CBX_IO);
    CHECK_INT(err.status, CBX_IO);
    CHECK_CONTAINS(err.message, path);
    CHECK_CONTAINS(err.message, reason);
    CHECK_INT(save(path, "new", NULL), CBX_IO);
    CHECK_INT(files_here(), before);
}

/* Of the test's own: as root, a mistake would replace the machine's /dev/null. */
TEST(a_folder_a_pipe_or_a_device_is_no_place_for_a_file)
{
    const char *pipe = test_path("pipe"), *device = test_path("device"), *link = test_path("null");
    struct stat st;
    (void)unlink(pipe), (void)unlink(device), (void)unlink(link);
    check_refused(test_path(""), "not a regular file");
    CHECK_INT(mkfifo(pipe, 0600), 0);
    check_refused(pipe, "not a regular file");
    CHECK(stat(pipe, &st) == 0 && S_ISFIFO(st.st_mode));
    if (mknod(device, S_IFCHR | 0600, makedev(1, 3))) /* only root can */
        device = geteuid() ? "/dev/null" : pipe;
    check_refused(device, "not a regular file");
    CHECK_INT(symlink(device, link), 0);
    check_refused(link, "not a regular file");
    CHECK(stat(link, &st) == 0 && !S_ISREG(st.st_mode));
}

TEST(a_missing_folder_is_an_error)
{
    check_refused(test_path("no/such/folder/file"), "No such file or directory");
    check_refused("", "cannot write");
    const char *file = test_path("file");
    test_write_file(file, "x", 1);
    check_refused(test_path("file/below"), "Not a directory");
}

TEST(an_unwritable_folder_is_an_error)
{
    if (geteuid() == 0) {
        test_skip("root may write everywhere");
        return;
    }
    char folder[512], path[600];
    (void)snprintf(folder, sizeof folder, "%s", test_path("locked"));
    (void)snprintf(path, sizeof path, "%s/file", folder);
    CHECK_INT(mkdir(folder, 0700), 0);
    test_write_file(path, "old", 3);
    CHECK_INT(chmod(folder, 0500), 0);
    check_refused(path, "Permission denied");
    CHECK(holds(path, "old"));
    CHECK_INT(chmod(folder, 0700), 0);
    CHECK_INT(unlink(path), 0);
    CHECK_INT(rmdir(folder), 0);
}

/* A limit on the size of files stands in for a full disk. */
TEST(a_full_disk_is_an_error_and_the_old_content_stays)
{
    const char   *path = test_path("full");
    struct rlimit before, tight;
    cbx_error     err = {0};
    char          large[5000];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    test_write_file(path, "old", 3);
    int count = files_here();
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    tight = before;
    tight.rlim_cur = 4096;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &tight), 0);
    cbx_status status = save(path, large, &err);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, handler);
    CHECK_INT(status, CBX_IO);
    CHECK_CONTAINS(err.message, path);
    CHECK_CONTAINS(err.message, "File too large");
    CHECK(holds(path, "old"));
    CHECK_INT(files_here(), count);
    CHECK_OK(save(path, large, &err), err);
    CHECK(holds(path, large));
}

/* Large writes arrive whole, whatever pieces the system takes them in. */
TEST(a_large_file_arrives_whole)
{
    const char     *path = test_path("large");
    size_t          size = 3u << 20, got = 0;
    unsigned char  *bytes = malloc(size);
    cbx_atomic_file file;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(i * 2654435761u >> 13);
    CHECK_INT(open_file(&file, path, NULL), CBX_OK);
    CHECK_INT(cbx_atomic_write(&file, bytes, size, NULL), CBX_OK);
    CHECK_INT(cbx_atomic_commit(&file, NULL), CBX_OK);
    unsigned char *back = test_read_file(path, &got);
    CHECK(back && got == size && !memcmp(bytes, back, size));
    free(back);
    free(bytes);
}

TEST(two_writers_of_one_file_do_not_meet)
{
    const char     *path = test_path("contested");
    cbx_atomic_file one, two;
    (void)unlink(path);
    int before = files_here();
    CHECK_INT(open_file(&one, path, NULL), CBX_OK);
    CHECK_INT(open_file(&two, path, NULL), CBX_OK);
    CHECK(!one.temporary || strcmp(one.temporary, two.temporary) != 0);
    CHECK_INT(cbx_atomic_write(&one, "one", 3, NULL), CBX_OK);
    CHECK_INT(cbx_atomic_write(&two, "second", 6, NULL), CBX_OK);
    CHECK_INT(cbx_atomic_commit(&two, NULL), CBX_OK);
    CHECK(holds(path, "second"));
    CHECK_INT(cbx_atomic_commit(&one, NULL), CBX_OK);
    CHECK(holds(path, "one"));
    CHECK_INT(files_here(), before + 1);
}

static cbx_status save_once(void *path)
{
    return save(path, "new", NULL);
}

TEST(saving_survives_every_failing_allocation)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s", test_path("memory"));
    (void)unlink(path);
    test_each_allocation(save_once, path);
    CHECK(holds(path, "new"));
    (void)unlink(path);
    int before = files_here();
    test_each_allocation(save_once, path);
    CHECK_INT(files_here(), before + 1);
}

TEST(a_killed_writer_leaves_a_name_that_can_be_told_from_others)
{
    cbx_atomic_file file;
    const char     *path = test_path("killed");
    CHECK_INT(cbx_atomic_open_named(&file, path, NULL), CBX_OK);
    CHECK(cbx_neighbour_is(strrchr(file.temporary, '/') + 1));
    CHECK_INT(cbx_atomic_write(&file, "par", 3, NULL), CBX_OK);
    cbx_atomic_abandon(&file);
    static const char *const others[] = {
        "",
        ".tmp",
        "mine.tmp",
        "combinex-0123456789abcdef.tmp",
        ".combinex-0123456789abcdeg.tmp",
        ".combinex-0123456789abcdef.tmp2",
        ".combinex-123456789abcdef.tmp",
        ".combinex-0123456789abcdef",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK(!cbx_neighbour_is(others[i]));
    CHECK(cbx_neighbour_is(".combinex-0123456789abcdef.tmp"));
}

TEST(a_writer_that_is_killed_leaves_no_trace_where_files_need_no_name)
{
    cbx_atomic_file file;
    const char     *path = test_path("killed");
    test_write_file(path, "old", 3);
    int before = files_here();
    CHECK_INT(cbx_atomic_open(&file, path, NULL), CBX_OK);
    if (file.temporary) {
        cbx_atomic_abandon(&file);
        test_skip("this file system gives every file a name");
        return;
    }
    CHECK_INT(cbx_atomic_write(&file, "par", 3, NULL), CBX_OK);
    CHECK_INT(close(file.fd), 0); /* which is all that the end of a process does */
    free(file.path);
    free(file.beside);
    CHECK_INT(files_here(), before);
    CHECK(holds(path, "old"));
}

TEST(all_of_this_holds_where_files_have_names_from_the_start)
{
    named = true;
    a_new_file_holds_what_was_written_and_nothing_lies_beside_it();
    the_old_content_stays_until_the_commit();
    an_abandoned_file_leaves_the_old_content_and_no_trace();
    a_commit_that_cannot_rename_leaves_the_old_content_and_no_trace();
    a_commit_that_cannot_sync_leaves_the_old_content_and_no_trace();
    a_replaced_file_keeps_its_permissions();
    a_symbolic_link_stays_and_its_target_is_replaced();
    a_link_to_a_file_that_is_not_there_stays_and_the_file_is_made();
    links_that_lead_nowhere_stay_and_are_an_error();
    a_name_may_be_as_long_as_names_can_be();
    a_hard_link_keeps_the_old_content();
    a_folder_a_pipe_or_a_device_is_no_place_for_a_file();
    a_missing_folder_is_an_error();
    a_full_disk_is_an_error_and_the_old_content_stays();
    two_writers_of_one_file_do_not_meet();
    saving_survives_every_failing_allocation();
    named = false;
}
