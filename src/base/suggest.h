/* The word that somebody probably meant. */
#pragma once

#include "base/macro.h"

struct suggest {
	const char *word;    /* what was written */
	const char *nearest; /* of what was offered, or NULL if nothing is near */
	unsigned distance;
};

#define SUGGEST_INIT(word_) ((struct suggest){ .word = (word_) })

/* Consider CANDIDATE, which must outlive SUGGEST. */
void suggest_offer(struct suggest *suggest, const char *candidate);
