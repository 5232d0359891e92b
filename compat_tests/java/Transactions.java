import static com.mongodb.client.model.Filters.eq;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoChangeStreamCursor;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.bson.Document;

/** The Java driver: transactions and change streams. */
public final class Transactions {
  interface Check {
    void run() throws Exception;
  }

  private static MongoClient client;
  private static MongoDatabase db;

  public static void main(String[] args) {
    client = MongoClients.create(System.getenv("URI"));
    db = client.getDatabase("java");
    check("withTransaction", Transactions::transaction);
    check("withTransaction tries again after a conflict", Transactions::conflict);
    check("watch", Transactions::watch);
    check("watch tells why a document has gone", Transactions::expiry);
    client.close();
    System.out.println("done");
  }

  private static void check(String name, Check check) {
    try {
      check.run();
      System.out.println("ok " + name);
    } catch (Throwable e) {
      StackTraceElement[] at = e.getStackTrace();
      System.out.println("not ok " + name + ": " + e + (at.length > 1 ? "\\n" + at[0] + "\\n" + at[1] : ""));
    }
  }

  private static void same(Object want, Object got) {
    if (!want.equals(got)) {
      throw new AssertionError("want " + want + ", got " + got);
    }
  }

  private static void move(MongoCollection<Document> c, int n, boolean fail) {
    try (ClientSession session = client.startSession()) {
      session.withTransaction(() -> {
        c.updateOne(session, eq("_id", "a"), Updates.inc("n", -n));
        c.updateOne(session, eq("_id", "b"), Updates.inc("n", n));
        if (fail) {
          throw new IllegalStateException("refused");
        }
        return n;
      });
    }
  }

  private static void transaction() {
    MongoCollection<Document> c = db.getCollection("accounts");
    c.insertMany(Arrays.asList(new Document("_id", "a").append("n", 10), new Document("_id", "b").append("n", 0)));
    try {
      move(c, 3, true);
      throw new AssertionError("committed");
    } catch (IllegalStateException e) {
      same("refused", e.getMessage());
    }
    same(10, c.find(eq("_id", "a")).first().getInteger("n"));
    move(c, 3, false);
    same(7, c.find(eq("_id", "a")).first().getInteger("n"));
    same(3, c.find(eq("_id", "b")).first().getInteger("n"));
  }

  private static void conflict() throws Exception {
    MongoCollection<Document> c = db.getCollection("counter");
    c.insertOne(new Document("_id", 1).append("n", 0));
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Thread t = new Thread(() -> {
        try (ClientSession session = client.startSession()) {
          session.withTransaction(() -> {
            int n = c.find(session, eq("_id", 1)).first().getInteger("n");
            return c.updateOne(session, eq("_id", 1), Updates.set("n", n + 1));
          });
        }
      });
      threads.add(t);
      t.start();
    }
    for (Thread t : threads) {
      t.join();
    }
    same(8, c.find().first().getInteger("n"));
  }

  private static void watch() {
    MongoCollection<Document> c = db.getCollection("watched");
    ChangeStreamDocument<Document> first;
    try (MongoChangeStreamCursor<ChangeStreamDocument<Document>> stream = c.watch().maxAwaitTime(500, TimeUnit.MILLISECONDS).cursor()) {
      c.insertOne(new Document("_id", 1).append("n", 1));
      first = stream.next();
      same("insert", first.getOperationTypeString());
      same(new Document("_id", 1).append("n", 1), first.getFullDocument());
    }
    c.updateOne(eq("_id", 1), Updates.set("n", 2));
    c.deleteOne(eq("_id", 1));
    try (MongoChangeStreamCursor<ChangeStreamDocument<Document>> stream = c.watch().resumeAfter(first.getResumeToken()).cursor()) {
      same(2, stream.next().getUpdateDescription().getUpdatedFields().getInt32("n").getValue());
      same("delete", stream.next().getOperationTypeString());
    }
  }

  private static void expiry() {
    MongoCollection<Document> c = db.getCollection("expiring");
    MongoDatabase admin = client.getDatabase("admin");
    c.createIndex(new Document("at", 1), new IndexOptions().expireAfter(0L, TimeUnit.SECONDS));
    Date due = new Date(admin.runCommand(new Document("testClock", 1)).getDate("now").getTime() + 1000);
    List<Document> deletes = Arrays.asList(new Document("$match", new Document("operationType", "delete")));
    try (MongoChangeStreamCursor<ChangeStreamDocument<Document>> stream = db.watch(deletes).showExpandedEvents(true).cursor()) {
      c.insertOne(new Document("_id", 1).append("at", due));
      admin.runCommand(new Document("testClock", 1).append("advanceSeconds", 120));
      Document why = Document.parse(stream.next().getExtraElements().getDocument("expiration").toJson());
      same("ttl", why.getString("policy"));
      same(due, why.getDate("dueAt"));
    }
  }
}
