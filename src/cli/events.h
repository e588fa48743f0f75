/*
 * Events for programs: a CloudEvent per line.
 *
 * With `-o json` the lines go to stdout and replace all messages for people. A start always keeps
 * them in its cluster's logs/events.json as well.
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

/* Whether ARGV, which may have errors elsewhere, asks for events with -o; without -o OUTPUT
 * decides. */
bool events_asked_for(const char *output, char *const *argv);

/* Set the command, "start" or "node add", and whether its events go to stdout. */
void events_begin(const char *command, bool to_stdout);

/* Write the events to DIR/logs/events.json, too; the first step that finds the directory truncates
 * the file. */
void events_record(const char *dir);

/* Remove DIR/logs/events.json: what it tells is no longer of interest. */
void events_forget(const char *dir);

/* Whether events go to stdout, so that nothing else may be printed. */
bool events_on_stdout(void);

/* Reports of an observer. Step numbers only increase, whatever order the steps come in. */
void events_step(const char *step, const char *node);
void events_progress(const char *step, const char *detail, uint64_t done, uint64_t total);

void events_done(const char *text); /* the last step */
void events_info(const char *text);
void events_warning(const char *text);
void events_error(const struct error *err, int code);

/* Add the event of ERR to OUT without sending it. */
void events_compose_error(const struct error *err, int code, struct strbuf *out);
