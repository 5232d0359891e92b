package io.github.duskdb.junit;

import com.mongodb.MongoCommandException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.bson.Document;

/**
 * A server that keeps its data in memory and whose clock tests can move. It ends when it is closed,
 * and at the latest with the JVM.
 */
public final class DuskDBServer implements AutoCloseable {
    private static final String LISTENING = "duskdb listening on ";

    private final Process process;
    private final String uri;
    private MongoClient client;
    private boolean closed;

    /** Starts a server on a free port. */
    public static DuskDBServer start() {
        return new Builder().start();
    }

    /** Returns the options of a server. */
    public static Builder builder() {
        return new Builder();
    }

    private DuskDBServer(Builder options, Binary binary) throws IOException {
        File log = File.createTempFile("duskdb", ".log");
        log.deleteOnExit();
        // Its standard input closes when the JVM ends, even if that is killed, and then the server ends.
        try {
            process = new ProcessBuilder(options.command(binary)).redirectError(log).start();
        } catch (IOException e) {
            throw binary.cannotRun(e);
        }
        uri = listening(options.launchTimeout, binary, log);
    }

    /** Waits until the program says where it listens, and returns that. */
    private String listening(Duration timeout, Binary binary, File log) throws IOException {
        CompletableFuture<Void> late = new CompletableFuture<Void>()
                .completeOnTimeout(null, timeout.toMillis(), TimeUnit.MILLISECONDS);
        late.thenRun(process::destroyForcibly);
        StringBuilder said = new StringBuilder();
        BufferedReader out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            if (line.startsWith(LISTENING)) {
                late.cancel(false);
                return line.substring(LISTENING.length());
            }
            said.append(line).append('\n');
        }
        boolean inTime = late.cancel(false);
        process.destroy();
        String complaint = new String(Files.readAllBytes(log.toPath()), StandardCharsets.UTF_8).trim();
        String words = complaint.isEmpty() ? said.toString().trim() : complaint;
        String how = inTime
                ? " ended with exit code " + process.onExit().join().exitValue() + " before it was ready"
                : " did not say where it listens within " + timeout.toMillis() + " ms (launchTimeout)";
        throw new IOException(binary + how + (words.isEmpty() ? ", and has printed nothing: is it duskdb?" : ":\n" + words));
    }

    /** Returns the connection string. */
    public synchronized String uri() {
        checkRunning();
        return uri;
    }

    /** Returns a client of the server, which is closed with it. */
    public synchronized MongoClient client() {
        checkRunning();
        if (client == null) {
            client = MongoClients.create(uri);
        }
        return client;
    }

    private void checkRunning() {
        if (closed) {
            throw new IllegalStateException("the server has been stopped");
        }
        if (!process.isAlive()) {
            throw new IllegalStateException("the server has ended by itself with exit code " + process.exitValue());
        }
    }

    /** Returns the server's time. */
    public Instant now() {
        return clock(new Document());
    }

    /**
     * Moves the clock forward, runs the expiration pass if one has become due, and returns the new
     * time.
     */
    public Instant advance(Duration duration) {
        return clock(new Document("advanceMillis", Durations.millis(duration)));
    }

    /** Does the same by a duration such as "61m", "1h30m", "90s", "1500ms" or "2d". */
    public Instant advance(String duration) {
        return advance(Durations.parse(duration));
    }

    /** Moves the clock to an instant that is not before the server's time. */
    public Instant set(Instant instant) {
        Instants.checked(instant);
        try {
            return clock(new Document("set", Date.from(instant)));
        } catch (MongoCommandException e) {
            if (!e.getErrorMessage().contains("backwards")) {
                throw e;
            }
            throw new IllegalArgumentException("the clock cannot move backwards, from " + now() + " to " + instant, e);
        }
    }

    /** Does the same with a text such as "2026-01-01T00:00:00Z". */
    public Instant set(String instant) {
        return set(Instants.parse(instant));
    }

    /** Stops the clock, or lets it run again, and returns the server's time. */
    public Instant freeze(boolean frozen) {
        return clock(new Document("freeze", frozen));
    }

    /** Runs an expiration pass now and returns the numbers of what it deleted. */
    public Document runPass() {
        return admin(new Document("runExpirationPass", 1)).get("deleted", Document.class);
    }

    /** Returns the server's clock, for code under test that takes a {@link Clock}. */
    public Clock clock() {
        return new ServerClock(ZoneOffset.UTC);
    }

    private Instant clock(Document change) {
        Document command = new Document("testClock", 1);
        command.putAll(change);
        return admin(command).getDate("now").toInstant();
    }

    private Document admin(Document command) {
        return client().getDatabase("admin").runCommand(command);
    }

    /** Stops the server. Further calls do nothing. */
    @Override
    public synchronized void close() {
        closed = true;
        if (client != null) {
            client.close();
            client = null;
        }
        process.destroy();
        try {
            if (!process.waitFor(30, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    private final class ServerClock extends Clock {
        private final ZoneId zone;

        private ServerClock(ZoneId zone) {
            this.zone = zone;
        }

        @Override
        public ZoneId getZone() {
            return zone;
        }

        @Override
        public Clock withZone(ZoneId other) {
            Arguments.check(other != null, "the time zone must not be null");
            return new ServerClock(other);
        }

        @Override
        public Instant instant() {
            return now();
        }
    }

    /** The options of a server. */
    public static final class Builder {
        private String binary;
        private Instant now;
        private Duration launchTimeout = Duration.ofSeconds(30);
        private final List<String> flags = new ArrayList<>();

        private Builder() {}

        /** Names the binary. Without it, it is the one in DUSKDB_BINARY, or duskdb on the PATH. */
        public Builder binary(String path) {
            binary = Arguments.notEmpty("the path of the binary", path);
            return this;
        }

        /** Stops the clock at an instant. Without it, the clock runs from the present. */
        public Builder now(Instant instant) {
            now = Instants.checked(instant);
            return this;
        }

        /** Does the same with a text such as "2026-01-01T00:00:00Z". */
        public Builder now(String instant) {
            return now(Instants.parse(instant));
        }

        /** Limits the time that the start may take. Without it, that is 30 seconds. */
        public Builder launchTimeout(Duration timeout) {
            boolean positive = timeout != null && !timeout.isNegative() && !timeout.isZero();
            Arguments.check(positive, "the launch timeout must be longer than 0, not " + timeout);
            Arguments.check(timeout.compareTo(Durations.MAX) < 0, "the launch timeout must be shorter than " + Durations.MAX.toDays() + " days");
            launchTimeout = timeout;
            return this;
        }

        /** Makes the server a replica set with one member. */
        public Builder replicaSet(String name) {
            return flags("--replSet", Arguments.notEmpty("the name of a replica set", name));
        }

        /** Sets a server parameter, such as ttlMonitorSleepSecs. */
        public Builder parameter(String name, Object value) {
            Arguments.notEmpty("the name of a parameter", name);
            Arguments.check(value != null, "the value of the parameter " + name + " must not be null");
            return flags("--setParameter", name + "=" + value);
        }

        /** Adds flags of duskdb. */
        public Builder flags(String... more) {
            Arguments.check(more != null, "the flags must not be null");
            Arguments.check(!Arrays.asList(more).contains(null), "a flag must not be null");
            flags.addAll(List.of(more));
            return this;
        }

        /** Starts the server on a free port. */
        public DuskDBServer start() {
            return start(System.getenv("DUSKDB_BINARY"));
        }

        /** Starts it with a value of the variable DUSKDB_BINARY. */
        DuskDBServer start(String variable) {
            try {
                return new DuskDBServer(this, Binary.find(variable, binary));
            } catch (IOException e) {
                throw new UncheckedIOException(e.getMessage(), e);
            }
        }

        private List<String> command(Binary program) {
            List<String> command = new ArrayList<>(List.of(program.path, "--test-clock", "--exit-with-stdin", "--quiet", "--port", "0", "--dbpath", ":memory:"));
            if (now != null) {
                command.addAll(List.of("--setParameter", "testClockStart=" + now));
            }
            command.addAll(flags);
            return command;
        }
    }
}
