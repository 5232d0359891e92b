package com.github.duskdb.junit;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;

/** Dates as texts in ISO 8601. */
final class Instants {
    private Instants() {}

    /** Returns the instant that a text such as "2026-01-01T00:00:00Z" stands for. */
    static Instant parse(String text) {
        try {
            return OffsetDateTime.parse(text).toInstant();
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException('"' + text + "\" is no date: give an Instant, or a text such as \"2026-01-01T00:00:00Z\"", e);
        }
    }
}
