package com.github.duskdb.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MessagesTest {
    @TempDir
    Path folder;

    @Test
    void afterTheEnd() {
        DuskDBServer server = DuskDBServer.start();
        server.close();
        for (Runnable use : List.<Runnable>of(server::now, server::runPass, server::client, () -> server.freeze(true),
                () -> server.advance("1m"), () -> server.set(Instant.EPOCH), () -> server.clock().instant())) {
            assertEquals("the server has been stopped", assertThrows(IllegalStateException.class, use::run).getMessage());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"soon", "", "2026-13-01T00:00:00Z", "2026-01-01"})
    void noDates(String text) {
        String want = '"' + text + "\" is no date: give an Instant, or a text such as \"2026-01-01T00:00:00Z\"";
        assertEquals(want, assertThrows(IllegalArgumentException.class, () -> DuskDBServer.builder().now(text)).getMessage());
    }

    @Test
    void dates() {
        try (DuskDBServer server = DuskDBServer.builder().now("2026-01-01T02:00:00+02:00").start()) {
            assertEquals(Instant.parse("2026-01-01T00:00:00Z"), server.now());
            assertEquals(Instant.parse("2026-05-01T00:00:00Z"), server.set("2026-05-01T00:00:00Z"));
            assertThrows(IllegalArgumentException.class, () -> server.set("soon"));
            assertThrows(IllegalArgumentException.class, () -> server.advance(Duration.ofSeconds(-1)));
            assertThrows(IllegalArgumentException.class, () -> server.advance(Duration.ofNanos(1)));
        }
    }

    @Test
    void optionsThatSayNothing() {
        DuskDBServer.Builder builder = DuskDBServer.builder();
        assertThrows(IllegalArgumentException.class, () -> builder.replicaSet(""));
        assertThrows(IllegalArgumentException.class, () -> builder.parameter("", 1));
        assertThrows(NullPointerException.class, () -> builder.parameter("ttlMonitorSleepSecs", null));
        assertThrows(IllegalArgumentException.class, () -> builder.launchTimeout(Duration.ZERO));
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void aBinaryThatCannotBeRun() throws IOException {
        File file = Files.createFile(folder.resolve("other")).toFile();
        assertMessage("DUSKDB_BINARY is " + folder + ", which is a directory: give the path of the program in it, such as " + folder + "/duskdb", folder.toString());
        assertMessage("DUSKDB_BINARY is /not/there, which does not exist", "/not/there");
        assertMessage("DUSKDB_BINARY is " + file + ", which is not executable: chmod +x " + file, file.toString());
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void anotherProgram() throws IOException {
        assertMessage("the program SCRIPT (DUSKDB_BINARY) ended with exit code 0 before it was ready, and has printed nothing: is it duskdb?", script("#!/bin/sh\n"));
        assertMessage("the program SCRIPT (DUSKDB_BINARY) ended with exit code 3 before it was ready:\nusage: other", script("#!/bin/sh\necho usage: other >&2; exit 3\n"));
        assertMessage("the program SCRIPT (DUSKDB_BINARY) did not say where it listens within 200 ms (launchTimeout), and has printed nothing: is it duskdb?", script("#!/bin/sh\nexec sleep 60\n"));
    }

    private String script(String text) throws IOException {
        File file = Files.writeString(folder.resolve("script"), text).toFile();
        assertTrue(file.setExecutable(true));
        return file.toString();
    }

    private static void assertMessage(String want, String variable) {
        DuskDBServer.Builder builder = DuskDBServer.builder().launchTimeout(Duration.ofMillis(want.contains("200 ms") ? 200 : 30_000));
        UncheckedIOException e = assertThrows(UncheckedIOException.class, () -> builder.start(variable));
        assertEquals(want.replace("SCRIPT", variable), e.getMessage());
    }
}
