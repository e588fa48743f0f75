#include "agent/frames.h"
#include "test.h"

static struct frame_reader reader;

static void feed(const void *data, size_t len)
{
	while (len > 0) {
		size_t room;
		unsigned char *at = frame_room(&reader, &room);
		size_t part = MIN(room, len);

		memcpy(at, data, part);
		frame_grown(&reader, part);
		data = (const char *)data + part;
		len -= part;
	}
}

static void feed_frame(enum frame_type type, uint16_t session, const char *text)
{
	unsigned char header[FRAME_HEADER];

	frame_header(type, 1, session, strlen(text), header);
	feed(header, sizeof(header));
	feed(text, strlen(text));
}

TEST(frames_follow_the_sync_word)
{
	struct frame frame;

	feed("boot messages", 13);
	ASSERT_INT(frame_next(&reader, &frame), 0);
	feed(frame_sync, 5);
	ASSERT_INT(frame_next(&reader, &frame), 0);
	feed(frame_sync + 5, FRAME_SYNC - 5);
	feed_frame(FRAME_DATA, 513, "hello");
	feed_frame(FRAME_EOF, 2, "");
	ASSERT_INT(frame_next(&reader, &frame), 1);
	ASSERT_INT(frame.type, FRAME_DATA);
	ASSERT_INT(frame.session, 513);
	ASSERT_INT(frame.stream, 1);
	ASSERT_INT(frame.len, 5);
	ASSERT(memcmp(frame.data, "hello", 5) == 0);
	ASSERT_INT(frame_next(&reader, &frame), 1);
	ASSERT_INT(frame.type, FRAME_EOF);
	ASSERT_INT(frame_next(&reader, &frame), 0);
}

TEST(the_other_end_may_start_again_at_any_time)
{
	static const unsigned char zeros[FRAME_HEADER + FRAME_MOST];
	unsigned char header[FRAME_HEADER];
	struct frame frame;
	int r;

	feed(frame_sync, FRAME_SYNC);
	frame_header(FRAME_DATA, 1, 3, FRAME_MOST, header);
	feed(header, sizeof(header));
	feed("half", 4);
	ASSERT_INT(frame_next(&reader, &frame), 0);
	/* It died there. */
	feed(zeros, sizeof(zeros));
	while ((r = frame_next(&reader, &frame)) > 0)
		;
	ASSERT_INT(r, -1);
	feed(frame_sync, FRAME_SYNC);
	feed_frame(FRAME_HELLO, 0, "");
	ASSERT_INT(frame_next(&reader, &frame), 1);
	ASSERT_INT(frame.type, FRAME_HELLO);
	/* Between frames, a sync word alone is enough. */
	feed(frame_sync, 3);
	ASSERT_INT(frame_next(&reader, &frame), 0);
	feed(frame_sync + 3, FRAME_SYNC - 3);
	feed_frame(FRAME_HELLO, 0, "");
	ASSERT_INT(frame_next(&reader, &frame), 1);
}

TEST(wrong_headers_are_refused)
{
	static const unsigned char wrong[][FRAME_HEADER] = {
		{ 'N', 1 },    { 'M', 0 },       { 'M', FRAME_TYPES },
		{ 'M', 1, 3 }, { 'M', 1, 0, 1 }, { 'M', 1, 0, 0, 0, 0, 0xff, 0xff },
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct frame frame;

		reader = (struct frame_reader){ .synced = true };
		feed(wrong[i], FRAME_HEADER);
		ASSERT_INT(frame_next(&reader, &frame), -1);
		ASSERT_INT(frame_next(&reader, &frame), 0);
	}
}

TEST(a_program_to_run_is_what_it_was)
{
	static struct frame_open open = { .terminal = true,
					  .rows = 50,
					  .columns = 300,
					  .dir = "/tmp",
					  .words = { "sh", "-c", "", NULL },
					  .variables = { "A=b", NULL } };
	static struct frame_open again;
	unsigned char data[FRAME_MOST];
	size_t len = frame_put_open(&open, data);

	ASSERT(len > 0);
	ASSERT_INT(frame_read_open(data, len, &again), 0);
	ASSERT(again.terminal);
	ASSERT_INT(again.rows, 50);
	ASSERT_INT(again.columns, 300);
	ASSERT_STR(again.dir, "/tmp");
	ASSERT_STR(again.words[1], "-c");
	ASSERT_STR(again.words[2], "");
	ASSERT(!again.words[3]);
	ASSERT_STR(again.variables[0], "A=b");
	for (size_t i = 0; i < len; i++)
		ASSERT_INT(frame_read_open(data, i, &again), -1);
}

TEST(a_program_with_too_many_words_does_not_fit)
{
	static struct frame_open open = { .dir = "/", .variables = { NULL } };
	unsigned char data[FRAME_MOST];
	static char word[FRAME_MOST];

	memset(word, 'x', sizeof(word) - 1);
	open.words[0] = word;
	ASSERT_INT(frame_put_open(&open, data), 0);
	for (size_t i = 0; i < FRAME_WORDS; i++)
		open.words[i] = "w";
	ASSERT(frame_put_open(&open, data) > 0);
}
