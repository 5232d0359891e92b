/* The C driver: everyday work, then expiry with the clock moved by the
 * client. Each check prints one line that the Go tests read: "ok NAME" or
 * "not ok NAME: WHY". */

#include <mongoc/mongoc.h>
#include <stdio.h>
#include <stdlib.h>

static void report(const char *name, bool ok, const bson_error_t *e) {
  if (ok) {
    printf("ok %s\n", name);
  } else {
    printf("not ok %s: %s\n", name, e->message[0] ? e->message : "another result than wanted");
  }
}

static int64_t count(mongoc_collection_t *c, bson_error_t *e) {
  bson_t all = BSON_INITIALIZER;
  return mongoc_collection_count_documents(c, &all, NULL, NULL, NULL, e);
}

static bool insert(mongoc_collection_t *c, bson_t *doc, bson_error_t *e) {
  bool ok = mongoc_collection_insert_one(c, doc, NULL, NULL, e);
  bson_destroy(doc);
  return ok;
}

static bool run(mongoc_client_t *client, const char *db, bson_t *cmd, bson_error_t *e) {
  bool ok = mongoc_client_command_simple(client, db, cmd, NULL, NULL, e);
  bson_destroy(cmd);
  return ok;
}

static void crud(mongoc_client_t *client) {
  bson_error_t e = {0};
  mongoc_collection_t *c = mongoc_client_get_collection(client, "c", "crud");
  bool ok = true;
  for (int i = 0; i < 300 && ok; i++) {
    ok = insert(c, BCON_NEW("_id", BCON_INT32(i)), &e);
  }
  bson_t *query = BCON_NEW("_id", "{", "$gte", BCON_INT32(100), "}");
  bson_t *opts = BCON_NEW("batchSize", BCON_INT32(9));
  mongoc_cursor_t *cursor = mongoc_collection_find_with_opts(c, query, opts, NULL);
  const bson_t *doc;
  int n = 0;
  while (mongoc_cursor_next(cursor, &doc)) {
    n++;
  }
  ok = ok && !mongoc_cursor_error(cursor, &e) && n == 200;
  ok = ok && mongoc_collection_delete_many(c, query, NULL, NULL, &e) && count(c, &e) == 100;
  report("crud", ok, &e);
  ok = insert(c, BCON_NEW("_id", BCON_INT32(1)), &e);
  report("duplicate key", !ok && e.code == 11000, &e);
  mongoc_cursor_destroy(cursor);
  bson_destroy(query);
  bson_destroy(opts);
  mongoc_collection_destroy(c);
}

/* A login over TLS with each mechanism, and one with a wrong password. */
static bool login(const char *mechanism, const char *password, bson_error_t *e) {
  mongoc_uri_t *uri = mongoc_uri_new(getenv("SECURE_URI"));
  mongoc_uri_set_option_as_utf8(uri, MONGOC_URI_TLSCAFILE, getenv("CA_FILE"));
  mongoc_uri_set_auth_mechanism(uri, mechanism);
  mongoc_uri_set_password(uri, password);
  mongoc_client_t *client = mongoc_client_new_from_uri(uri);
  mongoc_collection_t *c = mongoc_client_get_collection(client, "c", "secure");
  bool ok = insert(c, BCON_NEW("mechanism", BCON_UTF8(mechanism)), e);
  mongoc_collection_destroy(c);
  mongoc_client_destroy(client);
  mongoc_uri_destroy(uri);
  return ok;
}

static void secured(void) {
  bson_error_t e = {0};
  bool ok = login("SCRAM-SHA-256", "s3cret", &e) && login("SCRAM-SHA-1", "s3cret", &e);
  report("TLS and SCRAM", ok && !login("SCRAM-SHA-256", "wrong", &e), &e);
}

static void compression(void) {
  const char *names[] = {"snappy", "zlib", "zstd"};
  for (int i = 0; i < 3; i++) {
    bson_error_t e = {0};
    mongoc_uri_t *uri = mongoc_uri_new(getenv("URI"));
    mongoc_uri_set_compressors(uri, names[i]);
    mongoc_client_t *client = mongoc_client_new_from_uri(uri);
    mongoc_collection_t *c = mongoc_client_get_collection(client, "c", "z");
    report(names[i], insert(c, BCON_NEW("compressor", BCON_UTF8(names[i])), &e), &e);
    mongoc_collection_destroy(c);
    mongoc_client_destroy(client);
    mongoc_uri_destroy(uri);
  }
}

static void expiry(mongoc_client_t *client) {
  bson_error_t e = {0};
  mongoc_collection_t *c = mongoc_client_get_collection(client, "c", "ttl");
  int64_t now = (int64_t) time(NULL) * 1000;
  bool ok = run(client, "c", BCON_NEW("createIndexes", "ttl", "indexes", "[", "{", "key", "{", "at", BCON_INT32(1), "}",
                                      "name", "at_1", "expireAfterSeconds", BCON_INT32(60), "}", "]"), &e);
  ok = ok && insert(c, BCON_NEW("at", BCON_DATE_TIME(now)), &e);
  ok = ok && insert(c, BCON_NEW("at", BCON_DATE_TIME(now + 3600000)), &e);
  ok = ok && run(client, "admin", BCON_NEW("testClock", BCON_INT32(1), "advanceSeconds", BCON_INT32(120)), &e);
  report("expiry", ok && count(c, &e) == 1, &e);
  mongoc_collection_destroy(c);
}

int main(void) {
  mongoc_init();
  mongoc_client_t *client = mongoc_client_new(getenv("URI"));
  if (!client) {
    return 1;
  }
  crud(client);
  secured();
  compression();
  expiry(client);
  puts("done");
  mongoc_client_destroy(client);
  mongoc_cleanup();
  return 0;
}
