#include "cli/table.h"
#include "test.h"

static char *text;
static size_t len;

TEST(columns_are_aligned_by_characters)
{
	cleanup_with(table_release) struct table table = TABLE_INIT;
	FILE *out = open_memstream(&text, &len);

	TABLE_ROW(&table, "NAME", "IP", "VERSION");
	TABLE_ROW(&table, "größe", "10.0.0.1", "v1");
	TABLE_ROW(&table, "x", NULL, "v1.36.3");
	table_print(&table, out);
	ASSERT_INT(fclose(out), 0);
	ASSERT_STR(text, "NAME   IP        VERSION\n"
			 "größe  10.0.0.1  v1\n"
			 "x                v1.36.3\n");
	free(text);
}

TEST(a_box_has_its_heading_in_the_middle)
{
	cleanup_with(table_release) struct table table = TABLE_INIT;
	FILE *out = open_memstream(&text, &len);

	TABLE_ROW(&table, "PROFILE", "RUNTIME", "IP");
	TABLE_ROW(&table, "ha-demo", "containerd", "192.168.49.254");
	TABLE_ROW(&table, "minikube", "docker", "192.168.58.2");
	table_print_box(&table, out);
	ASSERT_INT(fclose(out), 0);
	ASSERT_STR(text, "┌──────────┬────────────┬────────────────┐\n"
			 "│ PROFILE  │  RUNTIME   │       IP       │\n"
			 "├──────────┼────────────┼────────────────┤\n"
			 "│ ha-demo  │ containerd │ 192.168.49.254 │\n"
			 "│ minikube │ docker     │ 192.168.58.2   │\n"
			 "└──────────┴────────────┴────────────────┘\n");
	free(text);
}
