/* SPDX-License-Identifier: GPL-2.0 */
/* Answers HTTP requests, one after the other, in one thread, by libmicrohttpd. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "lib/util/clock.h"
#include "lib/util/error.h"
#include "serve/negotiate.h"
#include "serve/http.h"
#include "serve/mhd.h"

#define CONNECTIONS	64		/* on each socket */
#define IDLE		10		/* seconds until a connection without progress is closed */
#define REQUEST_SIZE	(16 << 10)	/* bytes of memory for a request's line and headers */
#define LEVEL		1		/* of gzip: takes a third of the time of the default */
#define FINISH		2000		/* ms for answers under way when the server ends */

struct server {
	const struct http_page *pages;
	void *arg;
	const struct http_waits *waits;
	struct MHD_Daemon *daemons[SOCKETS_MAX];
	unsigned nr;
	unsigned answering;		/* requests whose answer is not sent yet */
};

/* The body as gzip; NULL: without, because of memory. */
static char *gzipped(const char *body, size_t size, size_t *packed)
{
	z_stream z = { .next_in = (unsigned char *)body, .avail_in = size };
	char *room;

	/* 15 + 16: the largest window, and gzip's own header */
	if (size > UINT_MAX ||
	    deflateInit2(&z, LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY))
		return NULL;
	*packed = deflateBound(&z, size);
	room = malloc(*packed);
	z.next_out = (unsigned char *)room;
	z.avail_out = *packed;
	if (room && deflate(&z, Z_FINISH) != Z_STREAM_END) {
		free(room);
		room = NULL;
	}
	*packed -= z.avail_out;
	deflateEnd(&z);
	return room;
}

static const char *header(struct MHD_Connection *c, const char *name)
{
	return mhd.lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/* Sends a body, which it frees. */
static enum MHD_Result answer_send(struct MHD_Connection *c, const struct http_answer *a,
				   char *body, size_t size)
{
	bool gzip = accepts_gzip(header(c, MHD_HTTP_HEADER_ACCEPT_ENCODING));
	size_t packed = 0;
	char *zipped = gzip ? gzipped(body, size, &packed) : NULL;
	struct MHD_Response *r;
	enum MHD_Result sent;

	if (zipped) {
		free(body);
		body = zipped;
		size = packed;
	}
	r = mhd.create_response_from_buffer(size, body, MHD_RESPMEM_MUST_FREE);
	if (!r) {
		free(body);
		return MHD_NO;
	}
	if (zipped)
		mhd.add_response_header(r, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	mhd.add_response_header(r, MHD_HTTP_HEADER_VARY,
				a->varies ? "Accept, Accept-Encoding" : "Accept-Encoding");
	mhd.add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, a->type);
	mhd.add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	mhd.add_response_header(r, "X-Content-Type-Options", "nosniff");
	if (a->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		mhd.add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	sent = mhd.queue_response(c, a->status, r);
	mhd.destroy_response(r);
	return sent;
}

static const struct http_page *page_find(const struct server *s, const char *path)
{
	const struct http_page *p = s->pages;

	while (p->path && strcmp(p->path, path))
		p++;
	return p->path ? p : NULL;
}

static void page_write(const struct server *s, const char *method, const char *path, FILE *out,
		       const struct http_request *request, struct http_answer *a)
{
	const struct http_page *page = page_find(s, path);

	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD)) {
		a->status = MHD_HTTP_METHOD_NOT_ALLOWED;
		fputs("Only GET and HEAD are served.\n", out);
	} else if (!page) {
		a->status = MHD_HTTP_NOT_FOUND;
		fputs("There is no such page. There are:", out);
		for (page = s->pages; page->path; page++)
			fprintf(out, " %s", page->path);
		fputc('\n', out);
	} else {
		page->write(out, request, a, s->arg);
	}
}

static bool has_body(struct MHD_Connection *c)
{
	const char *length = header(c, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return header(c, MHD_HTTP_HEADER_TRANSFER_ENCODING) || (length && strcmp(length, "0"));
}

/*
 * Called when the headers are there, and again when all of the request is. A body is not read: an
 * answer at the first call ends the connection.
 */
static enum MHD_Result request_answer(void *arg, struct MHD_Connection *c, const char *path,
				      const char *method, const char *version, const char *data,
				      size_t *data_size, void **begun)
{
	const struct http_request request = { .accept = header(c, MHD_HTTP_HEADER_ACCEPT) };
	struct http_answer a = { .status = MHD_HTTP_OK, .type = "text/plain; charset=utf-8" };
	struct server *s = arg;
	char *body = NULL;
	size_t size = 0;
	FILE *out;

	if (!*begun && !has_body(c)) {
		*begun = s;
		s->answering++;
		return MHD_YES;
	}
	out = open_memstream(&body, &size);
	(void)version, (void)data, (void)data_size;
	if (!out)
		return MHD_NO;
	s->answering += !*begun;
	*begun = s;
	page_write(s, method, path, out, &request, &a);
	if (fclose(out)) {
		free(body);
		return MHD_NO;
	}
	return answer_send(c, &a, body, size);
}

static void request_done(void *arg, struct MHD_Connection *c, void **begun,
			 enum MHD_RequestTerminationCode how)
{
	struct server *s = arg;

	(void)c, (void)how;
	s->answering -= !!*begun;
	*begun = NULL;
}

/* No page has a name that needs escapes: with them it is another one. */
static size_t unescape_nothing(void *arg, struct MHD_Connection *c, char *path)
{
	(void)arg, (void)c;
	return strlen(path);
}

static void log_nothing(void *arg, const char *format, va_list args)
{
	(void)arg, (void)format, (void)args;
}

static int server_start(struct server *s, const struct sockets *sockets, struct error *e)
{
	int err = mhd_load(e);

	if (err)
		return err;
	for (unsigned i = 0; i < sockets->nr; i++) {
		struct MHD_Daemon *d = mhd.start_daemon(
			MHD_USE_EPOLL | MHD_USE_ERROR_LOG, 0, NULL, NULL, request_answer, s,
			MHD_OPTION_EXTERNAL_LOGGER, log_nothing, NULL,
			MHD_OPTION_UNESCAPE_CALLBACK, unescape_nothing, NULL,
			MHD_OPTION_STRICT_FOR_CLIENT, 1,
			MHD_OPTION_LISTEN_SOCKET, sockets->fd[i],
			MHD_OPTION_NOTIFY_COMPLETED, request_done, s,
			MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
			MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE,
			MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_SIZE, MHD_OPTION_END);

		if (!d)
			return error_set(e, -ENOMEM, NULL, "cannot start the HTTP server");
		s->daemons[s->nr++] = d;
	}
	return 0;
}

/* Waits until something is to be done, a signal comes, or `most` ms have passed. */
static void server_turn(const struct server *s, unsigned most)
{
	struct pollfd fds[SOCKETS_MAX + 1];
	struct timespec time;

	for (unsigned i = 0; i < s->nr; i++) {
		const union MHD_DaemonInfo *info =
			mhd.get_daemon_info(s->daemons[i], MHD_DAEMON_INFO_EPOLL_FD);
		MHD_UNSIGNED_LONG_LONG ms;

		fds[i] = (struct pollfd){ .fd = info->epoll_fd, .events = POLLIN };
		if (mhd.get_timeout(s->daemons[i], &ms) == MHD_YES && ms < most)
			most = ms;
	}
	time = (struct timespec){ most / 1000, most % 1000 * 1000000L };
	fds[s->nr] = (struct pollfd){ .fd = s->waits->fd, .events = POLLIN };
	ppoll(fds, s->nr + 1, &time, s->waits->waiting);
	if (fds[s->nr].revents)
		s->waits->ready();
	for (unsigned i = 0; i < s->nr; i++)
		mhd.run(s->daemons[i]);
}

int http_serve(const struct sockets *sockets, const struct http_page *pages, void *arg,
	       const struct http_waits *waits, struct error *e)
{
	struct server s = { .pages = pages, .arg = arg, .waits = waits };
	int err = server_start(&s, sockets, e), fds[SOCKETS_MAX];
	uint64_t until;

	while (!err && !*waits->stop)
		server_turn(&s, 60000);
	for (unsigned i = 0; i < s.nr; i++)
		fds[i] = mhd.quiesce_daemon(s.daemons[i]);
	until = clock_ns(CLOCK_MONOTONIC) + FINISH * 1000000ull;
	while (s.answering && clock_ns(CLOCK_MONOTONIC) < until)
		server_turn(&s, 50);
	for (unsigned i = 0; i < s.nr; i++) {
		mhd.stop_daemon(s.daemons[i]);
		close(fds[i]);
	}
	return err;
}
