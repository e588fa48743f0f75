/* Environment variables as commands of the user's shell. */

#include "cli/shell-env.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/path.h"

/* In formats, the first %s is the name, the second the value. */
static const struct dialect {
	const char *name;
	const char *set;
	const char *unset;
	const char *special; /* characters that are escaped in values, */
	char escape;         /* by this one before them */
	const char *run;     /* how to run the output of the command %s */
	const char *failure;
} dialects[] = {
	{ "bash", "export %s=\"%s\"\n", "unset %s\n", "\\\"$`", '\\', "eval $(%s)", "false\n" },
	{ "zsh", "export %s=\"%s\"\n", "unset %s\n", "\\\"$`", '\\', "eval $(%s)", "false\n" },
	{ "fish", "set -gx %s \"%s\";\n", "set -e %s;\n", "\\\"$", '\\', "%s | source",
	  "false;\n" },
	{ "powershell", "$Env:%s = \"%s\"\n", "Remove-Item Env:\\%s\n", "`\"$", '`',
	  "& %s | Invoke-Expression", "" },
	{ "none", "%s=%s\n", "%s\n", "", 0, NULL, "" },
};

static const struct dialect *find_dialect(const char *shell)
{
	for (size_t i = 0; i < ARRAY_SIZE(dialects); i++)
		if (strcmp(dialects[i].name, shell) == 0)
			return &dialects[i];
	return &dialects[0];
}

const char *shell_env_detect(const char *shell)
{
	const char *name = shell ? path_last_name(shell) : "";

	if (strcmp(name, "pwsh") == 0)
		return "powershell";
	return strcmp(name, "none") == 0 ? "bash" : find_dialect(name)->name;
}

/* Add FORMAT, in which each %s is replaced by the next of WORDS. */
static void add_formatted(struct strbuf *out, const char *format, const char *const *words)
{
	for (const char *p = format; *p; p++) {
		if (p[0] == '%' && p[1] == 's') {
			strbuf_add(out, *words++);
			p++;
		} else {
			strbuf_add_char(out, *p);
		}
	}
}

void shell_env_print(const char *shell, const struct shell_variable *variables, size_t count,
		     bool unset, struct strbuf *out)
{
	const struct dialect *dialect = find_dialect(shell);

	for (size_t i = 0; i < count; i++) {
		cleanup_with(strbuf_release) struct strbuf value = STRBUF_INIT;

		for (const char *p = unset ? "" : variables[i].value; *p; p++) {
			if (strchr(dialect->special, *p))
				strbuf_add_char(&value, dialect->escape);
			strbuf_add_char(&value, *p);
		}
		add_formatted(out, unset ? dialect->unset : dialect->set,
			      (const char *[]){ variables[i].name, value.text });
	}
}

void shell_env_explain(const char *shell, const char *purpose, const char *command,
		       struct strbuf *out)
{
	const struct dialect *dialect = find_dialect(shell);

	if (!dialect->run)
		return;
	strbuf_addf(out, "# To %s, run:\n# ", purpose);
	add_formatted(out, dialect->run, (const char *[]){ command });
	strbuf_add_char(out, '\n');
}

const char *shell_env_failure(const char *shell)
{
	return find_dialect(shell)->failure;
}
