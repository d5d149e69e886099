/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of tables as people write them. */
#include "cell.h"
#include "test.h"

static void check_cell(const char *text, cbx_cell expected, double value)
{
    double found;
    CHECK_INT(cbx_cell_read(text, &found), expected);
    CHECK_NEAR(found, value, 0);
}

TEST(what_is_missing_is_written_in_many_ways)
{
    static const char *const words[] = {"",     "n/a",  "N/A",  "NA", "n.a.",
                                        "#N/A", "null", "NULL", "?",  "-"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        check_cell(words[i], CBX_CELL_MISSING, 0);
    check_cell("Nancy", CBX_CELL_TEXT, 0);
    check_cell("none", CBX_CELL_TEXT, 0);
}

TEST(numbers_may_have_commas_between_thousands)
{
    check_cell("1,200", CBX_CELL_NUMBER, 1200);
    check_cell("-1,234,567.5", CBX_CELL_NUMBER, -1234567.5);
    check_cell("12", CBX_CELL_NUMBER, 12);
    check_cell("1e3", CBX_CELL_NUMBER, 1000);
    check_cell("1,20", CBX_CELL_TEXT, 0);
    check_cell("1,2000", CBX_CELL_TEXT, 0);
    check_cell("1234,567", CBX_CELL_TEXT, 0);
    check_cell(",200", CBX_CELL_TEXT, 0);
    check_cell("1,200 euros", CBX_CELL_TEXT, 0);
}

TEST(days_are_numbers_of_days)
{
    check_cell("1970-01-01", CBX_CELL_DAY, 0);
    check_cell("1970-01-02", CBX_CELL_DAY, 1);
    check_cell("1969-12-31", CBX_CELL_DAY, -1);
    check_cell("2000-02-29", CBX_CELL_DAY, 11016); /* 30 years of 365 days, 7 leap days, 59 */
    check_cell("2000-03-01 12:30:00", CBX_CELL_DAY, 11017);
    check_cell("2000-03-01T12:30", CBX_CELL_DAY, 11017);
    check_cell("2000-13-01", CBX_CELL_TEXT, 0);
    check_cell("2000-01-32", CBX_CELL_TEXT, 0);
    check_cell("2000-01-01x", CBX_CELL_TEXT, 0);
}
