/* The documentation generated from the tables of commands, options and reasons. */

#include "cmd/reference.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"

/* The stream that a document is written to. */
struct page {
	const struct document_format *format;
	FILE *out;
};

struct fact {
	const char *term;
	const char *meaning;
};

static const struct fact variables[] = {
	{ "MANYKUBE_OPTION",
	  "sets --option of any command: MANYKUBE_WAIT_TIMEOUT=10m is --wait-timeout=10m; the "
	  "command line and a cluster file (-f) override it, and it overrides the settings of "
	  "'manykube config'" },
	{ "MANYKUBE_HOME",
	  "directory for clusters, settings and, in its subdirectory cache, Kubernetes "
	  "versions, instead of the paths below" },
	{ "MANYKUBE_CACHE",
	  "directory for Kubernetes versions; several MANYKUBE_HOME directories may share it" },
	{ "MANYKUBE_LIBEXEC",
	  "directory of manykube-agent and manykube-pause (default: where they were installed)" },
	{ "MANYKUBE_PAYLOAD_FROM",
	  "'download' or 'source': how to get Kubernetes (default: whichever works first)" },
	{ "MANYKUBE_IN_STYLE", "'false' disables emoji" },
	{ "NO_COLOR", "any non-empty value disables colours" },
	{ "KUBECONFIG", "the kubeconfig that clusters are added to (default: ~/.kube/config)" },
};

static const struct fact files[] = {
	{ "~/.manykube/config.json", "the settings of 'manykube config'" },
	{ MANYKUBE_STATE_DIR "/UID/profiles/NAME/",
	  "files of the cluster NAME of the user UID (under sudo, the caller); owned by root, "
	  "readable only by that user" },
	{ MANYKUBE_CACHE_DIR "/VERSION/",
	  "a Kubernetes version, shared by all users; kept when clusters are deleted" },
	{ "~/.kube/config", "kubeconfig, to which clusters are added" },
};

static const struct fact general_codes[] = {
	{ "0", "success" },
	{ "1", "MK_FAILURE: a failure that has no code of its own" },
	{ "130", "Ctrl-C interrupted a command that changes nothing, such as 'manykube logs -f'" },
};

static void write_facts(const struct page *page, const struct fact *facts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		page->format->item(page->out, facts[i].term, facts[i].meaning);
}

static void write_options(const struct page *page, const struct opt *table)
{
	page->format->begin_items(page->out, "option", "meaning");
	for (const struct opt *opt = table; opt->type != OPT_TYPE_END; opt++) {
		cleanup_with(strbuf_release) struct strbuf help = STRBUF_INIT;
		cleanup_free char *heading = opt_heading(opt);

		opt_describe(opt, &help);
		page->format->item(page->out, heading, help.text);
	}
}

/* A sentence about further names of COMMAND, for the caller to free; NULL if it has none. */
static char *name_aliases(const struct command *command)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *joined = NULL;

	if (!command->alias)
		return NULL;
	strlist_split(&names, command->alias, '|');
	joined = strlist_join(&names, " and ");
	return xasprintf(names.count == 1 ? "%s is the same command." : "%s are the same command.",
			 joined);
}

static void write_command(const struct page *page, const struct command *command, const char *path)
{
	const struct document_format *format = page->format;
	cleanup_free char *usage = command_usage(command, path);
	cleanup_free char *summary = command_sentence(command);
	cleanup_free char *alias = name_aliases(command);

	format->section(page->out, 2, path);
	format->paragraph(page->out, summary);
	format->code(page->out, usage);
	if (command->description)
		format->paragraph(page->out, command->description);
	if (alias)
		format->paragraph(page->out, alias);
	if (command_options(command) && command_options(command)->type != OPT_TYPE_END)
		write_options(page, command_options(command));
	if (command->examples) {
		format->paragraph(page->out, "Examples:");
		format->code(page->out, command->examples);
	}
}

static void write_commands(const struct page *page, const struct command *const *list,
			   const char *parent)
{
	for (; *list; list++) {
		cleanup_free char *path = xasprintf("%s %s", parent, (*list)->name);

		if ((*list)->flags & COMMAND_HIDDEN)
			continue;
		write_command(page, *list, path);
		if ((*list)->subcommands)
			write_commands(page, (*list)->subcommands, path);
	}
}

static void write_all_commands(const struct page *page, const struct command *const *list)
{
	const struct document_format *format = page->format;

	format->section(page->out, 1, "Commands");
	write_commands(page, list, "manykube");
	format->section(page->out, 1, "Options of every command");
	write_options(page, command_global_options);
	format->section(page->out, 1, "Environment");
	format->begin_items(page->out, "variable", "meaning");
	write_facts(page, variables, ARRAY_SIZE(variables));
	format->section(page->out, 1, "Files");
	format->begin_items(page->out, "file", "meaning");
	write_facts(page, files, ARRAY_SIZE(files));
}

static void write_codes(const struct page *page, const struct command *const *list)
{
	const struct document_format *format = page->format;
	cleanup_free char *status = NULL;

	format->begin_items(page->out, "exit code", "meaning");
	write_facts(page, general_codes, ARRAY_SIZE(general_codes));
	for (const struct reason *const *reason = reasons; *reason; reason++) {
		cleanup_free char *code = xasprintf("%d", (*reason)->exit_status);
		cleanup_free char *meaning = xasprintf("%s: %s", (*reason)->word,
						       (*reason)->meaning ?: "");

		format->item(page->out, code, meaning);
	}
	format->paragraph(
		page->out,
		"Error messages name the reason: 'Exiting due to MK_USAGE: ...'. 'manykube ssh' "
		"and 'manykube kubectl' exit with the status of the command that they run. "
		"'manykube apply --dry-run' exits with 2 if there is something to do.");
	while (*list && strcmp((*list)->name, "status") != 0)
		list++;
	if (*list && (*list)->description) {
		status = xasprintf("'manykube status' has its own codes. %s", (*list)->description);
		format->paragraph(page->out, status);
	}
}

void reference_man(const struct command *const *list, FILE *out)
{
	const struct page page = { &document_man, out };

	document_man.begin(out, "manykube", COMMAND_PROGRAM_SUMMARY);
	document_man.section(out, 1, "Synopsis");
	document_man.paragraph(out, "manykube [OPTION]... COMMAND [ARGUMENT]...");
	document_man.section(out, 1, "Description");
	document_man.paragraph(
		out,
		"Nodes are built from namespaces and control groups of this machine. They run "
		"containerd, the kubelet and, on control planes, the rest of Kubernetes, all set "
		"up by kubeadm. 'manykube start' creates a cluster, 'manykube delete' removes it "
		"completely. Commands that change or enter nodes need root.");
	document_man.code(out, "manykube start --nodes=3\n"
			       "manykube kubectl -- get nodes\n"
			       "manykube delete\n");
	write_all_commands(&page, list);
	reference_write_file(&document_man, out);
	document_man.section(out, 1, "Exit status");
	write_codes(&page, list);
	document_man.section(out, 1, "See also");
	document_man.paragraph(out, "kubectl(1), kubeadm(1), namespaces(7), nft(8)");
}

void reference_commands(const struct command *const *list, FILE *out)
{
	const struct page page = { &document_markdown, out };

	document_markdown.begin(out, "Commands of manykube",
				"See also 'man manykube' and 'manykube COMMAND --help'. Exit "
				"codes are described in exit-codes.md.");
	write_all_commands(&page, list);
}

void reference_exit_codes(const struct command *const *list, FILE *out)
{
	const struct page page = { &document_markdown, out };

	document_markdown.begin(out, "Exit codes of manykube",
				"The codes follow minikube's scheme: the tens stand for the "
				"area, the units for the kind of error.");
	document_markdown.section(out, 1, "Codes");
	write_codes(&page, list);
}
