/* `logs --audit`: who ran which commands, and their results. */

#include <jansson.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "cli/table.h"
#include "cmd/logs.h"
#include "look/audit.h"

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static void print_json(const struct audit_list *list)
{
	json_auto_t *all = json_array();

	for (size_t i = 0; i < list->count; i++) {
		const struct audit *audit = &list->items[i];

		(void)json_array_append_new(
			all, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "command",
				       or_empty(audit->command), "args", or_empty(audit->args),
				       "profile", or_empty(audit->profile), "user",
				       or_empty(audit->user), "version", or_empty(audit->version),
				       "startTime", or_empty(audit->start_time), "endTime",
				       or_empty(audit->end_time), "exitCode",
				       or_empty(audit->exit_code), "id", audit->id));
	}
	(void)json_dumpf(all, stdout, JSON_COMPACT);
	printf("\n");
}

int logs_show_audit(bool as_json, struct error *err)
{
	cleanup_with(audit_list_release) struct audit_list list = AUDIT_LIST_INIT;
	cleanup_with(table_release) struct table table = TABLE_INIT;
	int r = audit_read(&list, err);

	if (r < 0)
		return r;
	if (as_json) {
		print_json(&list);
		return 0;
	}
	TABLE_ROW(&table, "COMMAND", "ARGS", "PROFILE", "USER", "VERSION", "START", "END", "EXIT");
	for (size_t i = 0; i < list.count; i++) {
		const struct audit *audit = &list.items[i];

		TABLE_ROW(&table, audit->command, or_empty(audit->args), or_empty(audit->profile),
			  or_empty(audit->user), or_empty(audit->version),
			  or_empty(audit->start_time), or_empty(audit->end_time),
			  or_empty(audit->exit_code));
	}
	table_print_box(&table, stdout);
	return 0;
}
