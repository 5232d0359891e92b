package io.github.duskdb.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.mongodb.client.MongoClient;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Date;
import java.util.HashSet;
import java.util.Set;
import org.bson.Document;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

class DuskDBTest {
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    @Nested
    class AServer {
        @RegisterExtension
        DuskDB duskdb = new DuskDB(DuskDBServer.builder().now(START).parameter("ttlMonitorSleepSecs", 3600).replicaSet("rs0"));

        @Test
        void movesItsClock() {
            assertEquals(START, duskdb.now());
            assertEquals(START.plusSeconds(3661), duskdb.advance(Duration.ofSeconds(3661)));
            Instant later = START.plusSeconds(7200);
            assertEquals(later, duskdb.set(later));
            assertEquals(later, duskdb.freeze(true));
        }

        @Test
        void isAClock() {
            Clock clock = duskdb.clock();
            assertEquals(START, clock.instant());
            duskdb.advance("1h");
            assertEquals(START.plusSeconds(3600), clock.withZone(ZoneId.of("Europe/Berlin")).instant());
        }

        @Test
        void takesOptions() {
            assertEquals("rs0", duskdb.client().getDatabase("admin").runCommand(new Document("hello", 1)).get("setName"));
        }

        @Test
        void runsPasses() {
            duskdb.client().getDatabase("shop").getCollection("c").insertOne(new Document("at", new Date(0)));
            duskdb.client().getDatabase("shop").runCommand(Document.parse(
                    "{createIndexes: 'c', indexes: [{key: {at: 1}, name: 'at', expireAfterSeconds: 0}]}"));
            assertEquals(1L, ((Number) duskdb.runPass().get("ttl")).longValue());
        }
    }

    @Nested
    class InAField {
        @RegisterExtension
        DuskDB duskdb = new DuskDB();

        @RepeatedTest(2)
        void eachTestHasItsOwn() {
            assertTrue(EACH.add(duskdb.uri()));
        }
    }

    private static final Set<String> EACH = new HashSet<>();

    @Nested
    @ExtendWith(DuskDB.class)
    class AsAParameter {
        @Test
        void isResolved(DuskDBServer server, MongoClient client) {
            assertSame(server.client(), client);
        }
    }

    @Test
    void aWrongFlagIsReported() {
        UncheckedIOException e = assertThrows(UncheckedIOException.class, () -> DuskDBServer.builder().flags("--nonsense").start());
        assertTrue(e.getMessage().contains("nonsense"), e.getMessage());
    }

    @Test
    void takesDatesAsTexts() {
        try (DuskDBServer server = DuskDBServer.builder().now("2026-01-01T02:00:00+02:00").start()) {
            assertEquals(START, server.now());
            assertEquals(Instant.parse("2026-05-01T00:00:00Z"), server.set("2026-05-01"));
        }
    }

    @Test
    void closesTwice() {
        DuskDBServer server = DuskDBServer.start();
        try (DuskDBServer other = DuskDBServer.start()) {
            assertNotEquals(other.uri(), server.uri());
        }
        server.close();
        server.close();
    }
}
