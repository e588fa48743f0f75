/* Lists of strings in JSON. */

#include "data/words.h"

json_t *words_to_json(const struct strlist *words)
{
	json_t *list = json_array();
	const char *word;

	strlist_for_each(word, words)
		(void)json_array_append_new(list, json_string(word));
	return list;
}
