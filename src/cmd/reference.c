/* The documentation that comes out of the tables of commands, options and reasons. */

#include "cmd/reference.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"

/* What a document is written to. */
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
	  "gives the option --option of any command: MANYKUBE_WAIT_TIMEOUT=10m is "
	  "--wait-timeout=10m; the command line and a file of -f are stronger, the settings of "
	  "'manykube config' are weaker" },
	{ "MANYKUBE_HOME",
	  "one directory for clusters, settings and, as cache in it, the Kubernetes that nodes run, "
	  "instead of the places below" },
	{ "MANYKUBE_CACHE",
	  "where the Kubernetes that nodes run is kept; several directories of MANYKUBE_HOME may "
	  "share one" },
	{ "MANYKUBE_LIBEXEC",
	  "where manykube-agent and manykube-pause are, if they are not where they were installed" },
	{ "MANYKUBE_PAYLOAD_FROM",
	  "'download' or 'source': the only way to get Kubernetes; by default the first that works" },
	{ "MANYKUBE_IN_STYLE", "'false' shows no emoji" },
	{ "NO_COLOR", "anything but nothing shows no colours" },
	{ "KUBECONFIG", "the file that clusters are entered into, by default ~/.kube/config" },
};

static const struct fact files[] = {
	{ "~/.manykube/config.json", "the settings of 'manykube config'" },
	{ MANYKUBE_STATE_DIR "/UID/profiles/NAME/",
	  "all that belongs to the cluster NAME of the user UID, under sudo the caller; it is root's, "
	  "and nobody but that user can read it" },
	{ MANYKUBE_CACHE_DIR "/VERSION/",
	  "a Kubernetes that nodes run, for all users; stays when clusters are deleted" },
	{ "~/.kube/config", "where kubectl finds the clusters" },
};

static const struct fact general_codes[] = {
	{ "0", "all went well" },
	{ "1", "MK_FAILURE: something failed that has no code of its own" },
	{ "130", "Ctrl-C ended a command that changes nothing, such as 'manykube logs -f'" },
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

static void write_command(const struct page *page, const struct command *command, const char *path)
{
	const struct document_format *format = page->format;
	cleanup_free char *usage = command_usage(command, path);
	cleanup_free char *summary = command_sentence(command);

	format->section(page->out, 2, path);
	format->paragraph(page->out, summary);
	format->code(page->out, usage);
	if (command->description)
		format->paragraph(page->out, command->description);
	if (command_options(command) && command_options(command)->type != OPT_TYPE_END)
		write_options(page, command_options(command));
	if (command->examples) {
		format->paragraph(page->out, "For example:");
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
	format->begin_items(page->out, "file", "what it is");
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
		"The word stands in the message: 'Exiting due to MK_USAGE: ...'. "
		"'manykube ssh' and 'manykube kubectl' pass on the exit code of what they "
		"run. 'manykube apply --dry-run' ends with 2 if something would be done.");
	while (*list && strcmp((*list)->name, "status") != 0)
		list++;
	if (*list && (*list)->description) {
		status = xasprintf("'manykube status' has codes of its own. %s",
				   (*list)->description);
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
		"A node is made of namespaces and control groups of this machine, and runs "
		"containerd, a kubelet and, as a control plane, the rest of Kubernetes, just as "
		"kubeadm sets them up. 'manykube start' makes a cluster, 'manykube delete' removes "
		"all of it. Commands that work with nodes need root.");
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

	document_markdown.begin(out, "The commands of manykube",
				"Also in 'man manykube', and as 'manykube COMMAND --help'. What "
				"exit codes mean is in exit-codes.md.");
	write_all_commands(&page, list);
}

void reference_exit_codes(const struct command *const *list, FILE *out)
{
	const struct page page = { &document_markdown, out };

	document_markdown.begin(out, "The exit codes of manykube",
				"For scripts. The families are those of minikube: tens say where, "
				"units say what.");
	document_markdown.section(out, 1, "Codes");
	write_codes(&page, list);
}
