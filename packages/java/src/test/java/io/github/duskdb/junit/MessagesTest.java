package io.github.duskdb.junit;

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

class MessagesTest {
    @TempDir
    Path folder;

    @Test
    void afterTheEnd() {
        DuskDBServer server = DuskDBServer.start();
        server.close();
        for (Runnable use : List.<Runnable>of(server::now, server::uri, server::runPass, server::client, () -> server.freeze(true),
                () -> server.advance("1m"), () -> server.set(Instant.EPOCH), () -> server.clock().instant())) {
            assertEquals("the server has been stopped", assertThrows(IllegalStateException.class, use::run).getMessage());
        }
    }

    @Test
    void outsideOfTests() {
        String want = "the server runs during tests only, in a field with @RegisterExtension";
        assertEquals(want, assertThrows(IllegalStateException.class, new DuskDB()::client).getMessage());
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
