package io.github.duskdb.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class SharedTest {
    @RegisterExtension
    static final DuskDB DUSKDB = new DuskDB();

    private static final Set<String> URIS = new HashSet<>();

    @RepeatedTest(2)
    void allTestsShareTheServer() {
        URIS.add(DUSKDB.uri());
        assertEquals(1, URIS.size());
    }

    @Nested
    class Within {
        @Test
        void nestedOnesToo() {
            allTestsShareTheServer();
        }
    }
}
