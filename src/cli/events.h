/*
 * What happens, for programs: a CloudEvent per line.
 *
 * With `-o json` the lines go to stdout and take the place of everything that is said to people.
 * A start keeps them in its cluster's logs/events.json as well, however it talks.
 *
 * All values are strings.  The types, with their data:
 *
 *	io.manykube.step               currentstep, totalsteps, name, message
 *	io.manykube.download.progress  artifact, progress (0.00 … 1.00)
 *	io.manykube.info               message
 *	io.manykube.warning            message
 *	io.manykube.error              message, exitcode, name, advice
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"

/* Whether ARGV, which may be wrong before or behind its -o, asks for events; without -o OUTPUT says
 * it.
 */
bool events_asked_for(const char *output, char *const *argv);

/* The command "start" or "node add" speaks from now on, in events on stdout if TO_STDOUT. */
void events_begin(const char *command, bool to_stdout);

/* Keep the events in DIR/logs/events.json too: begun anew with the first step that finds the
 * directory. */
void events_record(const char *dir);

/* Whether stdout has the events, so that nothing else may be said. */
bool events_on_stdout(void);

/* What an observer says.  Steps only ever count up, whatever order they come in. */
void events_step(const char *step, const char *node);
void events_progress(const char *step, const char *detail, uint64_t done, uint64_t total);

void events_done(const char *text); /* the last step */
void events_info(const char *text);
void events_warning(const char *text);
void events_error(const struct error *err, int code);

/* Add the line of ERR to OUT without telling it. */
void events_compose_error(const struct error *err, int code, struct strbuf *out);
