/* The objects of the default storage class: what they are and where the API has them. */
#pragma once

struct storage_object {
	const char *path; /* of the object itself, for server-side apply; NULL ends the list */
	const char *json;
};

const struct storage_object *storage_objects(void);
