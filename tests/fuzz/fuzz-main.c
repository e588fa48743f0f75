/*
 * Runs a fuzz target over the files and directories of files named on the command line, so
 * that every input that ever broke it stays a regression test without a fuzzing engine.
 * With --mutate=N each file is also tried in N randomly damaged forms (seed fixed).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/strbuf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned mutations;

/* Feed an exact-size copy, so that a sanitizer sees any read behind the end. */
static void feed(const char *data, size_t len)
{
	cleanup_free uint8_t *copy = xmalloc(len);

	memcpy(copy, data, len);
	(void)LLVMFuzzerTestOneInput(copy, len);
}

static void damage(struct strbuf *data)
{
	size_t at;

	if (data->len == 0)
		return;
	at = (size_t)rand() % data->len;
	switch (rand() % 4) {
	case 0:
		data->text[at] = (char)rand();
		break;
	case 1:
		data->text[at] ^= (char)(1 << (rand() % 8));
		break;
	case 2:
		data->len = at;
		break;
	default:
		strbuf_drop_front(data, at);
		break;
	}
}

static int run_file(const char *path)
{
	cleanup_with(strbuf_release) struct strbuf data = STRBUF_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;

	if (file_read(path, 16 << 20, &data, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return EXIT_FAILURE;
	}
	feed(data.text, data.len);
	for (unsigned i = 0; i < mutations; i++) {
		cleanup_with(strbuf_release) struct strbuf copy = STRBUF_INIT;

		strbuf_add_mem(&copy, data.text, data.len);
		for (int n = rand() % 8; n >= 0; n--)
			damage(&copy);
		feed(copy.text, copy.len);
	}
	return EXIT_SUCCESS;
}

static int run_dir(const char *path)
{
	cleanup_dir DIR *stream = opendir(path);
	struct dirent *entry;

	if (!stream) {
		perror(path);
		return EXIT_FAILURE;
	}
	while ((entry = readdir(stream))) {
		cleanup_free char *file = xasprintf("%s/%s", path, entry->d_name);

		if (entry->d_name[0] != '.' && run_file(file) != EXIT_SUCCESS)
			return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	srand(1);
	for (int i = 1; i < argc; i++) {
		struct stat st;
		int status;

		if (sscanf(argv[i], "--mutate=%u", &mutations) == 1)
			continue;
		if (stat(argv[i], &st) < 0) {
			perror(argv[i]);
			return EXIT_FAILURE;
		}
		status = S_ISDIR(st.st_mode) ? run_dir(argv[i]) : run_file(argv[i]);
		if (status != EXIT_SUCCESS)
			return status;
	}
	return EXIT_SUCCESS;
}
