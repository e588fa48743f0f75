/* CloudEvents 1.0 in JSON. */

#include "data/cloudevent.h"

#include <stdlib.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/cleanup.h"

char *cloudevent_new_id(void)
{
	unsigned char b[16] = { 0 };

	(void)!getrandom(b, sizeof(b), 0);
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	return xasprintf("%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
			 b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
			 b[12], b[13], b[14], b[15]);
}

char *cloudevent_print(const char *type, const char *id, json_t *data)
{
	cleanup_free char *fresh = id ? NULL : cloudevent_new_id();
	cleanup_free char *text = NULL;
	json_auto_t *event = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "specversion", "1.0", "id",
				       id ? id : fresh, "source", "manykube", "type", type,
				       "datacontenttype", "application/json", "data", data);

	assert(event);
	text = json_dumps(event, JSON_COMPACT);
	assert(text);
	return xasprintf("%s\n", text);
}
