/* Acting as the user who called sudo. */

#include "base/person.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"

void person_find(struct person *ret)
{
	struct person person = { .uid = path_person_uid(), .gid = path_person_gid() };
	struct passwd *entry;
	int count = 0;

	person.is_other = geteuid() == 0 && person.uid != 0;
	entry = person.is_other ? getpwuid(person.uid) : NULL;
	if (entry)
		(void)getgrouplist(entry->pw_name, person.gid, NULL, &count);
	person.groups = xcalloc((size_t)count + 1, sizeof(*person.groups));
	person.groups[0] = person.gid;
	if (!entry || getgrouplist(entry->pw_name, person.gid, person.groups, &count) < 0)
		count = 1;
	person.group_count = (size_t)count;
	count = getgroups(0, NULL);
	person.own_groups = xcalloc((size_t)MAX(count, 0) + 1, sizeof(*person.own_groups));
	person.own_count = (size_t)MAX(getgroups(count, person.own_groups), 0);
	*ret = person;
}

void person_release(struct person *person)
{
	free(person->groups);
	free(person->own_groups);
	*person = PERSON_INIT;
}

int person_begin(const struct person *person, struct error *err)
{
	if (!person->is_other)
		return 0;
	if (setgroups(person->group_count, person->groups) < 0)
		return error_sys(err, "cannot take the groups of user %u", person->uid);
	(void)setfsgid(person->gid);
	(void)setfsuid(person->uid);
	/* These two calls tell of a failure only to who asks again. */
	if ((uid_t)setfsuid((uid_t)-1) == person->uid && (gid_t)setfsgid((gid_t)-1) == person->gid)
		return 0;
	person_end(person);
	return error_set(err, -EPERM, "cannot take the rights of user %u", person->uid);
}

void person_end(const struct person *person)
{
	int before = errno;

	if (!person->is_other)
		return;
	(void)setfsuid(0);
	(void)setfsgid(getegid());
	(void)setgroups(person->own_count, person->own_groups);
	/* The caller has yet to look at it. */
	errno = before;
}

int person_become(const struct person *person)
{
	if (!person->is_other)
		return 0;
	if (setgroups(person->group_count, person->groups) < 0 ||
	    setresgid(person->gid, person->gid, person->gid) < 0 ||
	    setresuid(person->uid, person->uid, person->uid) < 0)
		return -1;
	return 0;
}
