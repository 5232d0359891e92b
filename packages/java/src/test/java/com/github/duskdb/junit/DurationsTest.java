package com.github.duskdb.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationsTest {
    @ParameterizedTest
    @CsvSource({"61m,3660000", "1h30m,5400000", "1h 30m,5400000", "1500ms,1500", "1.5s,1500", "0.1s,100", "2d,172800000"})
    void durations(String text, long millis) {
        assertEquals(Duration.ofMillis(millis), Durations.parse(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "61", "m", "1h30", "61 minutes", "-1s", "1h-30m", "1m1", "0.5ms"})
    void noDurations(String text) {
        assertThrows(IllegalArgumentException.class, () -> Durations.parse(text));
    }
}
