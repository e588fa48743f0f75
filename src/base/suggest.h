/* Suggestions for mistyped words. */
#pragma once

#include "base/macro.h"

struct suggest {
	const char *word;    /* the mistyped word */
	const char *nearest; /* the nearest candidate so far, or NULL if none is near */
	unsigned distance;
};

#define SUGGEST_INIT(word_) ((struct suggest){ .word = (word_) })

/* Consider CANDIDATE, which must outlive SUGGEST. */
void suggest_offer(struct suggest *suggest, const char *candidate);
