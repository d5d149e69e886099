/* SPDX-License-Identifier: Apache-2.0 */
/* flags.c: the library's messages in the command line's words. */
#include <string.h>

#include "cli.h"

/* Is this word, of so many bytes, the field of an option of any command? */
static bool is_field(const char *word, size_t length)
{
    char       name[CBX_OPTION_SIZE];
    option_ref ref;
    if (length >= sizeof name)
        return false;
    for (size_t k = 0; k < length; k++)
        name[k] = word[k] == '_' ? '-' : word[k];
    name[length] = '\0';
    for (size_t i = 0; command_at(i); i++)
        if (command_option_find(command_at(i), name, 0, &ref))
            return true;
    return false;
}

/* How many bytes "the option " or "the argument " takes here, before a name. */
static size_t announced(const char *at)
{
    static const char *const words[] = {"the option ", "the argument "};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strncmp(at, words[i], strlen(words[i])))
            return strlen(words[i]);
    return 0;
}

const char *flags_in(const char *message, bool first, char text[2 * CBX_MESSAGE_SIZE])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    size_t            to = 0;
    while (*message && to + 2 * CBX_OPTION_SIZE < 2 * CBX_MESSAGE_SIZE) {
        size_t      said = announced(message);
        const char *word = message + said;
        size_t      length = strspn(word, letters);
        if (length && (first || said || memchr(word, '_', length)) && is_field(word, length)) {
            text[to++] = '-';
            text[to++] = '-';
            for (message = word; length; length--, message++)
                text[to++] = (char)(*message == '_' ? '-' : *message);
        } else {
            length = strspn(message, letters);
            for (length = length ? length : 1; length && to + 1 < 2 * CBX_MESSAGE_SIZE; length--)
                text[to++] = *message++;
        }
        first = false;
    }
    text[to] = '\0';
    return text;
}
