/* SPDX-License-Identifier: Apache-2.0 */
/* Folders whose files appear together or not at all, whether or not folders can change places in
 * one step. */
#include "atomic_folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static const char *const names[] = {"one", "two", NULL};
static bool              stepwise; /* the last test sets it */

static int files_in(const char *folder)
{
    int  count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));)
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (dir)
        (void)closedir(dir);
    return count;
}

static const char *in(const char *folder, const char *name)
{
    static char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static bool holds(const char *folder, const char *name, const char *text)
{
    size_t         size = 0;
    unsigned char *bytes = test_read_file(in(folder, name), &size);
    bool           same = bytes && size == strlen(text) && !memcmp(bytes, text, size);
    free(bytes);
    return same;
}

static cbx_status put(cbx_atomic_folder *folder, const char *name, const char *text, cbx_error *err)
{
    cbx_atomic_file file;
    cbx_status      status = cbx_atomic_folder_file(folder, name, &file, err);
    if (status)
        return status;
    status = cbx_atomic_write(&file, text, strlen(text), err);
    if (status)
        cbx_atomic_abandon(&file);
    else
        cbx_atomic_folder_add(folder, name, &file);
    return status;
}

static cbx_status begin(cbx_atomic_folder *folder, const char *path, const char *one,
                        const char *two, cbx_error *err)
{
    cbx_status status = cbx_atomic_folder_open(folder, path, names, err);
    if (status)
        return status;
    folder->stepwise = stepwise;
    status = put(folder, "one", one, err);
    if (!status)
        status = put(folder, "two", two, err);
    if (status)
        cbx_atomic_folder_abandon(folder);
    return status;
}

static cbx_status save(const char *path, const char *one, const char *two, cbx_error *err)
{
    cbx_atomic_folder folder;
    cbx_status        status = begin(&folder, path, one, two, err);
    if (!status)
        status = cbx_atomic_folder_commit(&folder, err);
    CHECK(folder.path == NULL && folder.count == 0);
    return status;
}

/* The test's own folder in a state that is known: `path` holds 1 and 2. */
static const char *fresh(const char *name)
{
    static char path[512];
    (void)snprintf(path, sizeof path, "%s", test_path(name));
    (void)unlink(in(path, "one")), (void)unlink(in(path, "two"));
    (void)rmdir(path), (void)unlink(path);
    CHECK_INT(save(path, "1", "2", NULL), CBX_OK);
    return path;
}

TEST(a_new_folder_holds_what_was_written_and_nothing_lies_beside_it)
{
    int         before = files_in(test_path(""));
    const char *path = fresh("new");
    CHECK(holds(path, "one", "1") && holds(path, "two", "2"));
    CHECK_INT(files_in(path), 2);
    CHECK_INT(files_in(test_path("")), before + 1);
}

TEST(an_old_folder_stays_until_the_commit_and_is_gone_afterwards)
{
    const char       *path = fresh("replaced");
    int               before = files_in(test_path(""));
    cbx_atomic_folder folder;
    cbx_error         err = {0};
    CHECK_OK(begin(&folder, path, "first", "second", &err), err);
    CHECK(holds(path, "one", "1") && holds(path, "two", "2"));
    CHECK_OK(cbx_atomic_folder_commit(&folder, &err), err);
    CHECK(holds(path, "one", "first") && holds(path, "two", "second"));
    CHECK_INT(files_in(path), 2);
    CHECK_INT(files_in(test_path("")), before);
}

TEST(an_abandoned_folder_leaves_the_old_one_and_no_trace)
{
    const char       *path = fresh("abandoned");
    int               before = files_in(test_path(""));
    cbx_atomic_folder folder;
    CHECK_INT(begin(&folder, path, "first", "second", NULL), CBX_OK);
    cbx_atomic_folder_abandon(&folder);
    CHECK(holds(path, "one", "1") && holds(path, "two", "2"));
    CHECK_INT(files_in(test_path("")), before);
}

TEST(an_empty_folder_is_replaced_and_one_with_half_of_the_files)
{
    const char *path = fresh("half");
    CHECK(!unlink(in(path, "two")));
    CHECK_INT(save(path, "first", "second", NULL), CBX_OK);
    CHECK(holds(path, "one", "first") && holds(path, "two", "second"));
    CHECK(!unlink(in(path, "one")) && !unlink(in(path, "two")));
    CHECK_INT(save(path, "1", "2", NULL), CBX_OK);
    CHECK(holds(path, "one", "1") && holds(path, "two", "2"));
}

static void check_refused(const char *path, const char *why)
{
    cbx_error err = {0};
    int       before = files_in(test_path(""));
    CHECK_INT(save(path, "first", "second", &err), CBX_IO);
    CHECK_CONTAINS(err.message, path);
    CHECK_CONTAINS(err.message, why);
    CHECK_INT(files_in(test_path("")), before);
}

TEST(a_folder_with_anything_else_in_it_is_refused)
{
    const char *path = fresh("mine");
    test_write_file(in(path, "notes"), "mine", 4);
    check_refused(path, "it also holds 'notes'");
    CHECK(holds(path, "notes", "mine") && holds(path, "one", "1"));
    CHECK(!unlink(in(path, "notes")));
    CHECK(!unlink(in(path, "two")) && !symlink("one", in(path, "two")));
    check_refused(path, "it also holds 'two'"); /* a link is not what was written */
    CHECK(!unlink(in(path, "two")) && !mkdir(in(path, "two"), 0777));
    check_refused(path, "it also holds 'two'");
    CHECK(!rmdir(in(path, "two")));
}

TEST(what_is_no_folder_is_refused)
{
    const char *path = test_path("file");
    test_write_file(path, "x", 1);
    check_refused(path, "not a folder");
    check_refused(test_path("no/such/folder"), "No such file or directory");
}

TEST(the_folder_that_one_is_in_is_refused)
{
    const char *path = fresh("here");
    char        was[1024];
    CHECK(getcwd(was, sizeof was) && !chdir(path));
    check_refused(".", "it is the current one");
    check_refused(path, "it is the current one");
    CHECK(!chdir(was));
}

TEST(slashes_behind_and_links_are_followed)
{
    const char *path = fresh("target");
    char        link[512], slashes[600];
    (void)snprintf(link, sizeof link, "%s", test_path("link"));
    (void)unlink(link);
    CHECK_INT(symlink("target", link), 0);
    CHECK_INT(save(link, "first", "second", NULL), CBX_OK);
    CHECK(holds(path, "one", "first") && holds(path, "two", "second"));
    (void)snprintf(slashes, sizeof slashes, "%s//", link);
    CHECK_INT(save(slashes, "3", "4", NULL), CBX_OK);
    CHECK(holds(path, "one", "3"));
    CHECK_INT(readlink(link, slashes, sizeof slashes), 6); /* it is still there */
    CHECK(!unlink(link));
}

TEST(a_replaced_folder_and_its_files_keep_their_permissions)
{
    const char *path = fresh("permissions");
    struct stat st;
    CHECK(!chmod(path, 0750) && !chmod(in(path, "two"), 0600));
    CHECK_INT(save(path, "first", "second", NULL), CBX_OK);
    CHECK(!stat(path, &st) && (st.st_mode & 07777) == 0750);
    CHECK(!stat(in(path, "two"), &st) && (st.st_mode & 07777) == 0600);
}

/* What came in while it was written is not removed with the old folder. */
TEST(a_file_that_came_meanwhile_is_not_lost)
{
    const char       *path = fresh("meanwhile");
    int               before = files_in(test_path(""));
    cbx_atomic_folder folder;
    CHECK_INT(begin(&folder, path, "first", "second", NULL), CBX_OK);
    test_write_file(in(path, "mine"), "mine", 4);
    CHECK_INT(cbx_atomic_folder_commit(&folder, NULL), CBX_OK);
    CHECK(holds(path, "one", "first") && holds(path, "two", "second"));
    CHECK_INT(files_in(test_path("")), before + 1);
    DIR *dir = opendir(test_path(""));
    bool found = false;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char old[512];
        (void)snprintf(old, sizeof old, "%s", test_path(e->d_name));
        if (strncmp(e->d_name, ".combinex-", 10) || !holds(old, "mine", "mine"))
            continue;
        found = true;
        CHECK(!unlink(in(old, "mine")) && !rmdir(old));
    }
    (void)closedir(dir);
    CHECK(found);
}

static cbx_status save_once(void *path)
{
    return save(path, "1", "2", NULL);
}

TEST(saving_a_folder_survives_every_failing_allocation)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s", fresh("memory"));
    int before = files_in(test_path(""));
    test_each_allocation(save_once, path);
    CHECK(holds(path, "one", "1") && holds(path, "two", "2"));
    CHECK_INT(files_in(test_path("")), before);
}

TEST(all_of_this_holds_where_the_old_folder_must_step_aside)
{
    stepwise = true;
    an_old_folder_stays_until_the_commit_and_is_gone_afterwards();
    an_empty_folder_is_replaced_and_one_with_half_of_the_files();
    slashes_behind_and_links_are_followed();
    a_replaced_folder_and_its_files_keep_their_permissions();
    a_file_that_came_meanwhile_is_not_lost();
    saving_a_folder_survives_every_failing_allocation();
    stepwise = false;
}
