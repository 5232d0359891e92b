import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.gte;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoSecurityException;
import com.mongodb.MongoWriteException;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.gridfs.GridFSBuckets;
import com.mongodb.client.model.Accumulators;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.CreateCollectionOptions;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.Indexes;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.Sorts;
import com.mongodb.client.model.TimeSeriesOptions;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.Updates;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.bson.Document;
import org.bson.types.ObjectId;

/** The Java driver: everyday work, then expiry with the clock moved by the client. */
public final class Driver {
  interface Check {
    void run() throws Exception;
  }

  private static MongoClient client;
  private static MongoDatabase db;

  public static void main(String[] args) {
    client = MongoClients.create(System.getenv("URI"));
    db = client.getDatabase("java");
    check("crud", Driver::crud);
    check("errors", Driver::errors);
    check("cursors and aggregation", Driver::cursors);
    check("bulk writes", Driver::bulk);
    check("GridFS", Driver::gridfs);
    check("sessions", Driver::sessions);
    check("zlib compression", Driver::compression);
    check("TLS and SCRAM", Driver::secured);
    check("expiry of a TTL index", Driver::ttlIndex);
    check("expiry of a time series", Driver::timeSeries);
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

  private static void advance(int seconds) {
    client.getDatabase("admin").runCommand(new Document("testClock", 1).append("advanceSeconds", seconds));
  }

  private static void crud() {
    MongoCollection<Document> c = db.getCollection("crud");
    Document d = new Document("n", 1L).append("list", Arrays.asList(1, 2, 3));
    c.insertOne(d);
    same(ObjectId.class, d.get("_id").getClass());
    same(1L, c.updateOne(eq("n", 1), Updates.combine(Updates.inc("n", 4), Updates.pull("list", 2))).getModifiedCount());
    same(Arrays.asList(1, 3), c.find(eq("n", 5)).first().getList("list", Integer.class));
    same(5L, c.findOneAndDelete(eq("n", 5)).get("n"));
    same(0L, c.countDocuments());
  }

  private static void errors() {
    MongoCollection<Document> c = db.getCollection("errors");
    c.insertOne(new Document("_id", 1));
    try {
      c.insertOne(new Document("_id", 1));
      throw new AssertionError("the duplicate was accepted");
    } catch (MongoWriteException e) {
      same(11000, e.getError().getCode());
    }
    try {
      db.runCommand(new Document("noSuchCommand", 1));
      throw new AssertionError("an unknown command was accepted");
    } catch (MongoCommandException e) {
      same(59, e.getErrorCode());
    }
  }

  private static void cursors() {
    MongoCollection<Document> c = db.getCollection("cursors");
    List<Document> docs = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      docs.add(new Document("_id", i).append("mod", i % 10));
    }
    c.insertMany(docs);
    int n = 0;
    for (Document d : c.find(gte("_id", 500)).sort(Sorts.ascending("_id")).batchSize(50)) {
      same(500 + n++, d.getInteger("_id"));
    }
    same(500, n);
    List<Document> groups = c.aggregate(List.of(
        Aggregates.group("$mod", Accumulators.sum("sum", "$_id")), Aggregates.sort(Sorts.ascending("_id")))).into(new ArrayList<>());
    same(10, groups.size());
    same(49500, groups.get(0).getInteger("sum"));
  }

  private static void bulk() {
    var r = db.getCollection("bulk").bulkWrite(List.of(
        new InsertOneModel<>(new Document("_id", 1)),
        new UpdateOneModel<>(eq("_id", 1), Updates.set("a", 1))));
    same(1, r.getInsertedCount());
    same(1, r.getModifiedCount());
  }

  private static void gridfs() {
    byte[] body = new byte[700_000];
    Arrays.fill(body, (byte) 7);
    var bucket = GridFSBuckets.create(db);
    ObjectId id = bucket.uploadFromStream("f", new ByteArrayInputStream(body));
    var out = new ByteArrayOutputStream();
    bucket.downloadToStream(id, out);
    same(true, Arrays.equals(body, out.toByteArray()));
  }

  private static void sessions() {
    try (ClientSession s = client.startSession()) {
      db.getCollection("sessions").insertOne(s, new Document("_id", 1));
      same(1L, db.getCollection("sessions").countDocuments(s));
    }
  }

  private static void compression() {
    String text = "expiry ".repeat(20_000);
    try (MongoClient z = MongoClients.create(System.getenv("URI") + "&compressors=zlib")) {
      var c = z.getDatabase("java").getCollection("z");
      c.insertOne(new Document("text", text));
      same(text, c.find().first().getString("text"));
    }
  }

  private static void secured() throws Exception {
    KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
    trusted.load(null, null);
    try (InputStream in = Files.newInputStream(Path.of(System.getenv("CA_FILE")))) {
      trusted.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(in));
    }
    TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, factory.getTrustManagers(), null);
    for (String mechanism : List.of("SCRAM-SHA-256", "SCRAM-SHA-1")) {
      MongoClientSettings settings = MongoClientSettings.builder()
          .applyConnectionString(new ConnectionString(System.getenv("SECURE_URI") + "&authMechanism=" + mechanism))
          .applyToSslSettings(b -> b.context(context)).build();
      try (MongoClient s = MongoClients.create(settings)) {
        s.getDatabase("java").getCollection("secure").insertOne(new Document("_id", mechanism));
      }
    }
    MongoClientSettings wrong = MongoClientSettings.builder()
        .applyConnectionString(new ConnectionString(System.getenv("SECURE_URI").replace("s3cret", "wrong")))
        .applyToSslSettings(b -> b.context(context)).build();
    try (MongoClient s = MongoClients.create(wrong)) {
      s.getDatabase("java").getCollection("secure").countDocuments();
      throw new AssertionError("the wrong password was accepted");
    } catch (MongoSecurityException e) {
      same(true, e.getMessage().contains("Exception authenticating"));
    }
  }

  private static void ttlIndex() {
    MongoCollection<Document> c = db.getCollection("ttl");
    c.createIndex(Indexes.ascending("at"), new IndexOptions().expireAfter(60L, TimeUnit.SECONDS));
    Instant now = Instant.now();
    c.insertMany(List.of(new Document("at", Date.from(now)), new Document("at", Date.from(now.plusSeconds(3600)))));
    advance(120);
    same(1L, c.countDocuments());
    advance(3600);
    same(0L, c.countDocuments());
  }

  private static void timeSeries() {
    db.createCollection("series", new CreateCollectionOptions()
        .timeSeriesOptions(new TimeSeriesOptions("at").metaField("m")).expireAfter(60, TimeUnit.SECONDS));
    MongoCollection<Document> c = db.getCollection("series");
    c.insertMany(List.of(new Document("at", new Date(0)), new Document("at", Date.from(Instant.now().plusSeconds(86400)))));
    same(2L, c.countDocuments());
    client.getDatabase("admin").runCommand(new Document("runExpirationPass", 1));
    same(1L, c.countDocuments());
  }
}
