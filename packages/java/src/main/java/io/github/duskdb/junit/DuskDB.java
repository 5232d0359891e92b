package io.github.duskdb.junit;

import com.mongodb.client.MongoClient;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import org.bson.Document;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * A DuskDB server as an extension of JUnit 5. In a field that is not static, each test has its own;
 * in a static one all tests of the class share it:
 *
 * <pre>{@code
 * @RegisterExtension
 * DuskDB duskdb = new DuskDB();
 * }</pre>
 *
 * <p>With {@code @ExtendWith(DuskDB.class)} at a class or a method, tests take the server as a
 * parameter, a {@link DuskDBServer} or a {@link MongoClient}.
 */
public final class DuskDB implements BeforeAllCallback, AfterAllCallback, BeforeEachCallback, AfterEachCallback, ParameterResolver {
    private final DuskDBServer.Builder options;
    private DuskDBServer server;
    private int classes; // whose tests share the server: a class and nested ones, or none

    /** Uses a server with default options. */
    public DuskDB() {
        this(DuskDBServer.builder());
    }

    /** Uses a server with these options. */
    public DuskDB(DuskDBServer.Builder options) {
        Arguments.check(options != null, "the options must not be null: write new DuskDB() for a server with the default ones");
        this.options = options;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        if (classes++ == 0) {
            server = options.start();
        }
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        if (classes == 0) {
            server = options.start();
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        if (classes == 0) {
            stop();
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
        if (--classes == 0) {
            stop();
        }
    }

    private void stop() {
        if (server != null) {
            server.close();
            server = null;
        }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return type == DuskDBServer.class || type == MongoClient.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == MongoClient.class ? server().client() : server();
    }

    /** Returns the server, which runs during tests only. */
    public DuskDBServer server() {
        if (server == null) {
            throw new IllegalStateException("the server runs during tests only, in a field with @RegisterExtension");
        }
        return server;
    }

    /** Returns the connection string. */
    public String uri() {
        return server().uri();
    }

    /** Returns a client of the server. */
    public MongoClient client() {
        return server().client();
    }

    /** Returns the server's time. */
    public Instant now() {
        return server().now();
    }

    /** Returns the server's clock, for code under test that takes a {@link Clock}. */
    public Clock clock() {
        return server().clock();
    }

    /** Moves the clock forward; see {@link DuskDBServer#advance(Duration)}. */
    public Instant advance(Duration duration) {
        return server().advance(duration);
    }

    /** Moves the clock forward by a duration such as "61m" or "1h30m". */
    public Instant advance(String duration) {
        return server().advance(duration);
    }

    /** Moves the clock to an instant that is not before the server's time. */
    public Instant set(Instant instant) {
        return server().set(instant);
    }

    /** Moves the clock to an instant such as "2026-01-01T00:00:00Z". */
    public Instant set(String instant) {
        return server().set(instant);
    }

    /** Stops the clock, or lets it run again. */
    public Instant freeze(boolean frozen) {
        return server().freeze(frozen);
    }

    /** Runs an expiration pass now and returns the numbers of what it deleted. */
    public Document runPass() {
        return server().runPass();
    }
}
