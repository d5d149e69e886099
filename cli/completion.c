/* SPDX-License-Identifier: Apache-2.0 */
/* completion.c: the bash completion, from the same tables as --help.
 *
 * The script is fixed but for four tables, each the body of a bash `case`:
 * which words are commands, what follows an option, which options a command
 * has, and what its operands are. */
#include <string.h>

#include "help.h"

/* Looked up at run time, since folders change: names of data sets, and files. */
static const char prologue[] =
    "# bash completion for combinex                            -*- shell-script -*-\n"
    "# Made with: combinex help --completion bash\n"
    "\n"
    "_combinex_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\"); }\n"
    "\n"
    "_combinex_files() {\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"; compgen -f -X \"$1\" -- \"$cur\")\n"
    "}\n"
    "\n"
    "# Names of files never go through compgen -W, which would expand them.\n"
    "_combinex_data() {\n"
    "    local folder file IFS=: names=()\n"
    "    local folders=${COMBINEX_DATA-}:${XDG_DATA_HOME:-$HOME/.local/share}/combinex\n"
    "    folders+=:${XDG_CACHE_HOME:-$HOME/.cache}/combinex\n"
    "    for folder in $folders; do\n"
    "        for file in \"$folder\"/*.{safetensors,zip,npz} \"$folder\"/*/; do\n"
    "            [[ -e $file ]] || continue\n"
    "            file=${file%/} file=${file##*/} file=${file%.safetensors} file=${file%.zip}\n"
    "            file=${file%.npz}\n"
    "            [[ $file == \"$cur\"* ]] && names+=(\"$file\")\n"
    "        done\n"
    "    done\n"
    "    IFS=$' \\t\\n'\n"
    "    _combinex_words \"$builtin\"\n"
    "    names+=(\"${COMPREPLY[@]}\")\n"
    "    _combinex_files '!*.safetensors'\n"
    "    for file in zip npz csv graphml gml pickle pkl content; do\n"
    "        mapfile -t -O ${#names[@]} names < <(compgen -f -X \"!*.$file\" -- \"$cur\")\n"
    "    done\n"
    "    COMPREPLY+=(\"${names[@]}\")\n"
    "}\n"
    "\n"
    "_combinex() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local word i command='' options='' valued='' operand=0 first=2\n";

static const char find_command[] = "    COMPREPLY=()\n"
                                   "    # bash splits --name=value into three words\n"
                                   "    if [[ $cur == = ]]; then\n"
                                   "        cur=\n"
                                   "    elif [[ $prev == = ]]; then\n"
                                   "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
                                   "    fi\n"
                                   "    if ((COMP_CWORD == 1)); then\n"
                                   "        _combinex_words \"$commands --help --version\"\n"
                                   "        return\n"
                                   "    fi\n"
                                   "    command=${COMP_WORDS[1]}\n"
                                   "    case $command in\n";

static const char find_operand[] =
    "    for ((i = first; i < COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        if [[ $word == = ]]; then\n"
    "            ((i++))\n"
    "        elif [[ $word == -* ]]; then\n"
    "            [[ \" $valued \" == *\" $word \"* && ${COMP_WORDS[i + 1]} != = ]] && ((i++))\n"
    "        else\n"
    "            ((operand++))\n"
    "        fi\n"
    "    done\n"
    "    if [[ $cur == -* ]]; then\n"
    "        _combinex_words \"$options\"\n"
    "        return\n"
    "    fi\n"
    "    case \"$command $operand\" in\n";

static const char epilogue[] = "    esac\n"
                               "}\n"
                               "\n"
                               "complete -F _combinex combinex\n";

/* Calls `each` for every visible option of every command. */
typedef void (*each_option)(FILE *out, const command *c, const option_ref *ref);

static void for_options(FILE *out, const command *c, each_option each)
{
    option_group group;
    for (size_t g = 0; command_group(c, g, &group); g++) {
        option_ref ref;
        for (size_t i = 0; !group.hidden && command_option(c, &group, i, &ref); i++) {
            if (ref.option->help)
                each(out, c, &ref);
        }
    }
}

/* The first words of commands, each once; or the second words of a group. */
static void put_words(FILE *out, const char *group)
{
    const char *before = "", *last = "";
    size_t      length = group ? strlen(group) + 1 : 0;
    for (size_t i = 0; command_at(i); i++) {
        const char *name = command_at(i)->name;
        if (group && (strncmp(name, group, length - 1) != 0 || name[length - 1] != ' '))
            continue;
        name += length;
        size_t word = strcspn(name, " ");
        if (!strncmp(name, last, word) && strcspn(last, " ") == word)
            continue;
        (void)fprintf(out, "%s%.*s", before, (int)word, name);
        before = " ";
        last = name;
    }
}

static void put_builtins(FILE *out)
{
    (void)fputs("    local remote=\"", out);
    for (size_t i = 0; cbx_remote_name(i); i++)
        (void)fprintf(out, "%s%s", i ? " " : "", cbx_remote_name(i));
    (void)fputs("\"\n    local builtin=\"", out);
    for (size_t i = 0; cbx_builtin_name(i); i++)
        (void)fprintf(out, "%s%s", i ? " " : "", cbx_builtin_name(i));
    (void)fputs("\"\n    local commands=\"", out);
    put_words(out, NULL);
    (void)fputs("\"\n", out);
}

static void put_groups(FILE *out)
{
    const char *last = "";
    for (size_t i = 0; command_at(i); i++) {
        const char *name = command_at(i)->name;
        size_t      word = strcspn(name, " ");
        char        group[64];
        if (!name[word] || word >= sizeof group || !strncmp(name, last, word + 1))
            continue;
        last = name;
        (void)snprintf(group, sizeof group, "%.*s", (int)word, name);
        (void)fprintf(out, "    %s)\n        if ((COMP_CWORD == 2)); then\n", group);
        (void)fputs("            _combinex_words \"", out);
        put_words(out, group);
        (void)fputs(" --help\"\n            return\n        fi\n"
                    "        command+=\" ${COMP_WORDS[2]}\"\n        first=3\n        ;;\n",
                    out);
    }
}

/* What to offer after an option that takes a value. */
static void put_value(FILE *out, const command *c, const option_ref *ref)
{
    const char *value = option_value_name(ref);
    if (!value)
        return;
    (void)fprintf(out, "    \"%s --%s\"", c->name, ref->option->name);
    if (ref->extra.letter)
        (void)fprintf(out, " | \"%s -%c\"", c->name, ref->extra.letter);
    (void)fputs(") ", out);
    if (ref->option->type == CBX_OPTION_CHOICE) {
        (void)fputs("_combinex_words \"", out);
        for (int i = 0; ref->option->choices[i]; i++)
            (void)fprintf(out, "%s%s", i ? " " : "", ref->option->choices[i]);
        (void)fputs("\"; ", out);
    } else if (!strcmp(value, "FILE")) {
        (void)fputs("_combinex_files ''; ", out);
    }
    (void)fputs("return ;;\n", out);
}

static void put_name(FILE *out, const command *c, const option_ref *ref)
{
    (void)c;
    if (ref->extra.letter)
        (void)fprintf(out, "-%c ", ref->extra.letter);
    (void)fprintf(out, "--%s ", ref->option->name);
}

static void put_valued(FILE *out, const command *c, const option_ref *ref)
{
    if (option_value_name(ref))
        put_name(out, c, ref);
}

static void put_operands(FILE *out, const command *c)
{
    static const char *const offers[] = {[OPERAND_DATA] = "_combinex_data",
                                         [OPERAND_BUILTIN] = "_combinex_words \"$builtin\"",
                                         [OPERAND_REMOTE] = "_combinex_words \"$remote\"",
                                         [OPERAND_MODEL] = "_combinex_files '!*.safetensors'",
                                         [OPERAND_FILE] = "_combinex_files ''",
                                         [OPERAND_COMMAND] = "_combinex_words \"$commands\"",
                                         [OPERAND_WORD] = ":"};
    for (size_t i = 0; c->operands && c->operands[i].name; i++)
        (void)fprintf(out, "    \"%s %zu\") %s ;;\n", c->name, i, offers[c->operands[i].kind]);
}

void completion_write(FILE *out)
{
    (void)fputs(prologue, out);
    put_builtins(out);
    (void)fputs(find_command, out);
    put_groups(out);
    (void)fputs("    esac\n    case \"$command $prev\" in\n", out);
    for (size_t i = 0; command_at(i); i++)
        for_options(out, command_at(i), put_value);
    (void)fputs("    esac\n    case $command in\n", out);
    for (size_t i = 0; command_at(i); i++) {
        (void)fprintf(out, "    \"%s\")\n        options=\"", command_at(i)->name);
        for_options(out, command_at(i), put_name);
        (void)fputs("\"\n        valued=\"", out);
        for_options(out, command_at(i), put_valued);
        (void)fputs("\"\n        ;;\n", out);
    }
    (void)fputs("    esac\n", out);
    (void)fputs(find_operand, out);
    for (size_t i = 0; command_at(i); i++)
        put_operands(out, command_at(i));
    (void)fputs(epilogue, out);
}
