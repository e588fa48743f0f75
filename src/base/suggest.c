/* Suggestions for mistyped words. */

#include "base/suggest.h"

#include <string.h>

/* The longest word that is compared; no command or option is longer. */
#define LONGEST 40

/* The number of letters to replace, insert, delete or swap with a neighbour to turn A into B. */
static unsigned edit_distance(const char *a, const char *b)
{
	unsigned rows[3][LONGEST + 1];
	unsigned *older = rows[0], *old = rows[1], *now = rows[2], *spare;
	size_t a_len = strlen(a), b_len = strlen(b);

	if (a_len > LONGEST || b_len > LONGEST)
		return LONGEST;
	for (size_t j = 0; j <= b_len; j++)
		old[j] = (unsigned)j;
	for (size_t i = 1; i <= a_len; i++) {
		now[0] = (unsigned)i;
		for (size_t j = 1; j <= b_len; j++) {
			now[j] = old[j - 1] + (a[i - 1] != b[j - 1]);
			now[j] = MIN(now[j], old[j] + 1);
			now[j] = MIN(now[j], now[j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = MIN(now[j], older[j - 2] + 1);
		}
		spare = older;
		older = old;
		old = now;
		now = spare;
	}
	return old[b_len];
}

void suggest_offer(struct suggest *suggest, const char *candidate)
{
	size_t len = strlen(suggest->word);
	unsigned distance = edit_distance(suggest->word, candidate);

	/* A prefix of a name counts as a name with one wrong letter. */
	if (len >= 2 && strncmp(suggest->word, candidate, len) == 0)
		distance = MIN(distance, 1u);
	/* Half of a short word is another word. */
	if (distance > (len < 5 ? 1 : len < 9 ? 2 : 3))
		return;
	if (!suggest->nearest || distance < suggest->distance) {
		suggest->nearest = candidate;
		suggest->distance = distance;
	}
}
