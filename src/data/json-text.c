#include "data/json-text.h"

#include <errno.h>

int json_text_parse(const char *text, size_t len, json_t **ret, struct error *err)
{
	json_error_t why;

	*ret = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
	if (!*ret)
		return error_set(err, -EBADMSG, "line %d, column %d: %s", why.line, why.column,
				 why.text);
	return 0;
}
