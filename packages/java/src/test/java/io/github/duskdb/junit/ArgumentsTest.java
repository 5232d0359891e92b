package io.github.duskdb.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;

class ArgumentsTest {
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    @RegisterExtension
    static final DuskDB DUSKDB = new DuskDB(DuskDBServer.builder().now(START));

    /** Returns a part of the table of arguments that the packages for all languages accept, or refuse. */
    private static Map<String, Object> table(String name) throws IOException {
        return Document.parse(Files.readString(Path.of("..", "testdata", "arguments.json"))).get(name, Document.class);
    }

    private static void refused(String words, Executable use) {
        String message = assertThrows(IllegalArgumentException.class, use, words).getMessage();
        assertTrue(message.startsWith(words), message + " does not begin with " + words);
    }

    @Test
    void durationsOfAllLanguages() throws IOException {
        table("durations").forEach((text, millis) -> assertEquals(((Number) millis).longValue(), Durations.parse(text).toMillis(), text));
        table("wrongDurations").forEach((text, words) -> refused('"' + text + "\" " + words, () -> Durations.parse(text)));
    }

    @Test
    void datesOfAllLanguages() throws IOException {
        table("dates").forEach((text, want) -> assertEquals(Instant.parse((String) want), Instants.parse(text), text));
        table("wrongDates").forEach((text, words) -> refused('"' + text + "\" " + words, () -> Instants.parse(text)));
    }

    @Test
    void whatTheClockRefuses() {
        refused("\"2026-02-31\" is no date: give an Instant, or a text such as \"2026-01-01T00:00:00Z\"", () -> DUSKDB.set("2026-02-31"));
        refused("\"2026-01-01T00:00:00\" has no time zone: write \"2026-01-01T00:00:00Z\" for UTC", () -> DUSKDB.set("2026-01-01T00:00:00"));
        refused("+1000000000-12-31T23:59:59.999999999Z is not between the years 1 and 9999", () -> DUSKDB.set(Instant.MAX));
        refused("the clock cannot move backwards, from 2026-01-01T00:00:00Z to 2025-12-31T00:00:00Z", () -> DUSKDB.set("2025-12-31"));
        refused("PT-1S is negative: the clock moves forward only", () -> DUSKDB.advance(Duration.ofSeconds(-1)));
        refused("PT0.000000001S is no whole number of milliseconds", () -> DUSKDB.advance(Duration.ofNanos(1)));
        refused(Duration.ofSeconds(Long.MAX_VALUE) + " is longer than 2900000 days", () -> DUSKDB.advance(Duration.ofSeconds(Long.MAX_VALUE)));
        assertEquals(START, DUSKDB.now());
    }

    @Test
    void nulls() {
        String noDuration = "null is no duration: give a Duration, or a text such as \"61m\"";
        refused(noDuration, () -> DUSKDB.advance((Duration) null));
        refused(noDuration, () -> DUSKDB.advance((String) null));
        String noDate = "null is no date: give an Instant, or a text such as \"2026-01-01T00:00:00Z\"";
        refused(noDate, () -> DUSKDB.set((Instant) null));
        refused(noDate, () -> DUSKDB.set((String) null));
        DuskDBServer.Builder builder = DuskDBServer.builder();
        refused(noDate, () -> builder.now((Instant) null));
        refused(noDate, () -> builder.now((String) null));
        refused("the path of the binary must not be null or empty", () -> builder.binary(null));
        refused("the name of a replica set must not be null or empty", () -> builder.replicaSet(null));
        refused("the name of a parameter must not be null or empty", () -> builder.parameter(null, 1));
        refused("the value of the parameter ttlMonitorSleepSecs must not be null", () -> builder.parameter("ttlMonitorSleepSecs", null));
        refused("the launch timeout must be longer than 0, not null", () -> builder.launchTimeout(null));
        refused("the flags must not be null", () -> builder.flags((String[]) null));
        refused("a flag must not be null", () -> builder.flags("--quiet", null));
        refused("the options must not be null: write new DuskDB() for a server with the default ones", () -> new DuskDB(null));
        refused("the time zone must not be null", () -> DUSKDB.clock().withZone(null));
    }

    @Test
    void optionsThatSayNothing() {
        DuskDBServer.Builder builder = DuskDBServer.builder();
        refused("the path of the binary must not be null or empty", () -> builder.binary(""));
        refused("the name of a replica set must not be null or empty", () -> builder.replicaSet(""));
        refused("the name of a parameter must not be null or empty", () -> builder.parameter("", 1));
        refused("the launch timeout must be longer than 0, not PT0S", () -> builder.launchTimeout(Duration.ZERO));
        refused("the launch timeout must be longer than 0, not PT-1S", () -> builder.launchTimeout(Duration.ofSeconds(-1)));
        refused("the launch timeout must be shorter than 2900000 days", () -> builder.launchTimeout(Duration.ofSeconds(Long.MAX_VALUE)));
    }
}
