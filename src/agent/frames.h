/*
 * The protocol between a VM's agent and this host, over one serial channel.
 *
 * A stream of frames carries many sessions: each is a program that runs in the guest.  Both ends
 * begin by sending the sync word and FRAME_HELLO, and ignore everything before that of the other:
 * so either may start again at any time, which ends all sessions.
 *
 * A header has 8 bytes: 'M', type, stream, 0, session and length (16 bits each, little-endian).
 * At most FRAME_WINDOW bytes of a session are on the way in each direction; the receiver allows
 * more with FRAME_CREDIT once it has passed them on.  So a session that nobody reads does not stop
 * the others.
 *
 * Neither end trusts the other: the decoder accepts any bytes.  It uses only the C library, because
 * it is also part of the agent.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum frame_type {
	FRAME_HELLO = 1, /* both ways, after the sync word */
	FRAME_OPEN,      /* to the guest: run a program, see struct frame_open */
	FRAME_STARTED,   /* to the host: it runs */
	FRAME_FAILED,    /* to the host: it could not be run; 4 bytes, the errno */
	FRAME_DATA,      /* both ways, of stream 0 (input), 1 or 2 (output) */
	FRAME_EOF,       /* to the guest: the end of the input */
	FRAME_CREDIT,    /* both ways; 4 bytes: how many more bytes may be sent */
	FRAME_RESIZE,    /* to the guest; 4 bytes: rows and columns of the terminal */
	FRAME_EXIT,      /* to the host; 4 bytes: the exit status.  The end of the session. */
	FRAME_CLOSE,     /* to the guest: kill the program.  The end of the session. */
	FRAME_STATE,     /* to the host, session 0: the agent's state file; sent regularly */
	FRAME_GO,        /* to the guest, session 0: start the services */
	FRAME_CLOCK,     /* to the guest, session 0; 8 bytes: seconds since 1970 */
	FRAME_SHUTDOWN,  /* to the guest, session 0 */
	FRAME_CONTROL,   /* only between the keeper of a VM and its clients, see vm/keeper.h */
	FRAME_TYPES,
};

/* How often the guest sends its state at least, and after what silence it hangs. */
#define FRAME_BEAT_MS   5000
#define FRAME_SILENT_MS 60000

#define FRAME_HEADER   8
#define FRAME_MOST     32768u /* bytes of data in a frame */
#define FRAME_WINDOW   65536u
#define FRAME_SYNC     16 /* bytes of the sync word */
#define FRAME_SESSIONS 64u
#define FRAME_WORDS    512u /* arguments, and variables, of a program */

extern const unsigned char frame_sync[FRAME_SYNC];

struct frame {
	enum frame_type type;
	uint8_t stream;
	uint16_t session;
	uint16_t len;
	const unsigned char *data;
};

struct frame_reader {
	bool synced; /* false: everything up to the sync word is ignored */
	size_t begin;
	size_t end;
	unsigned char bytes[2 * (FRAME_HEADER + FRAME_MOST)];
};

/* Room for received bytes: *RET_SIZE bytes, at least one. Call frame_grown() with the number of
 * bytes written there, and then frame_next() until it returns 0. */
unsigned char *frame_room(struct frame_reader *reader, size_t *ret_size);
void frame_grown(struct frame_reader *reader, size_t len);

/* Get the next frame; RET points into READER until frame_room() is called.  Returns 1, 0 if it is
 * not complete, or -1 if the bytes are no frame: then only a new sync word helps. */
int frame_next(struct frame_reader *reader, struct frame *ret);

/* Write the header of a frame with LEN bytes of data to RET. */
void frame_header(enum frame_type type, uint8_t stream, uint16_t session, size_t len,
		  unsigned char ret[FRAME_HEADER]);

void frame_put_number(unsigned char *ret, uint64_t number, unsigned bytes);
uint64_t frame_number(const unsigned char *data, unsigned bytes);

/* A program to run. */
struct frame_open {
	bool terminal; /* on a terminal of its own, of ROWS and COLUMNS; output is stream 1 */
	uint16_t rows;
	uint16_t columns;
	const char *dir;
	const char *words[FRAME_WORDS + 1]; /* ended by NULL */
	const char *variables[FRAME_WORDS + 1];
};

/* Write OPEN to RET and return its length; 0 if it does not fit. */
size_t frame_put_open(const struct frame_open *open, unsigned char ret[FRAME_MOST]);

/* Read RET, which points into DATA; returns -1 if it is wrong. */
int frame_read_open(const unsigned char *data, size_t len, struct frame_open *ret);
