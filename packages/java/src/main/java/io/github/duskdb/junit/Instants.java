package io.github.duskdb.junit;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Dates as texts in ISO 8601, written as in all languages that DuskDB has a package for. */
final class Instants {
    private static final Pattern ISO = Pattern.compile("(\\d{4}-\\d\\d-\\d\\d)(?:[T ](\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,9})?)?)(Z|[+-]\\d\\d:?\\d\\d)?)?");
    private static final Instant FIRST = Instant.parse("0001-01-01T00:00:00Z");
    private static final Instant END = Instant.parse("9999-12-31T23:59:59.999999999Z");

    private Instants() {}

    /** Returns the instant that a text such as "2026-01-01T00:00:00Z" stands for. A day begins at midnight in UTC. */
    static Instant parse(String text) {
        Arguments.check(text != null, "null" + noDate());
        Matcher iso = ISO.matcher(text);
        Arguments.check(iso.matches(), '"' + text + '"' + noDate());
        String time = iso.group(2) == null ? "00:00" : iso.group(2);
        String zone = iso.group(2) == null ? "Z" : iso.group(3);
        try {
            Instant read = OffsetDateTime.parse(iso.group(1) + "T" + time + withColon(zone)).toInstant();
            Arguments.check(zone != null, '"' + text + "\" has no time zone: write \"" + text + "Z\" for UTC");
            Arguments.check(isInRange(read), '"' + text + '"' + noDate());
            return read;
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException('"' + text + '"' + noDate(), e);
        }
    }

    /** Returns an instant that the clock can show. */
    static Instant checked(Instant instant) {
        Arguments.check(instant != null, "null" + noDate());
        Arguments.check(isInRange(instant), instant + " is not between the years 1 and 9999");
        return instant;
    }

    private static boolean isInRange(Instant instant) {
        return !instant.isBefore(FIRST) && !instant.isAfter(END);
    }

    private static String noDate() {
        return " is no date: give an Instant, or a text such as \"2026-01-01T00:00:00Z\"";
    }

    private static String withColon(String zone) {
        return zone == null ? "Z" : zone.replaceFirst("(\\d\\d)(\\d\\d)$", "$1:$2");
    }
}
