/* What the host asks of a VM, beside running programs: `manykube-agent do VERB WORDS...`. */
#pragma once

struct verb {
	const char *name;
	int words; /* the least number of them */
	int (*run)(char *const *words);
};

/* Ended by a verb without a name. */
extern const struct verb file_verbs[];
extern const struct verb net_verbs[];

/* Run the verb WORDS[0]; returns the exit status: 0 or an errno. */
int do_run(char *const *words);
