package com.github.duskdb.junit;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations, written as in all languages that DuskDB has a package for. */
final class Durations {
    private static final Map<String, Long> MILLIS = Map.of("d", 86_400_000L, "h", 3_600_000L, "m", 60_000L, "s", 1000L, "ms", 1L);
    private static final Pattern PART = Pattern.compile("\\G\\s*(\\d+(?:\\.\\d+)?)(ms|d|h|m|s)\\s*");

    private Durations() {}

    /** Returns a duration in milliseconds, of which the clock is made. It moves forward only. */
    static long millis(Duration duration) {
        if (duration.isNegative()) {
            throw new IllegalArgumentException(duration + " is negative: the clock moves forward only");
        }
        if (duration.getNano() % 1_000_000 != 0) {
            throw new IllegalArgumentException(duration + " is no whole number of milliseconds");
        }
        return duration.toMillis();
    }

    /** Returns the duration that a text such as "61m" or "1h30m" stands for. */
    static Duration parse(String text) {
        BigDecimal millis = BigDecimal.ZERO;
        int end = 0;
        for (Matcher part = PART.matcher(text); part.find(); end = part.end()) {
            millis = millis.add(new BigDecimal(part.group(1)).multiply(BigDecimal.valueOf(MILLIS.get(part.group(2)))));
        }
        if (end == 0 || end != text.length()) {
            throw new IllegalArgumentException('"' + text + "\" is no duration like \"61m\", \"1h30m\", \"90s\", \"1500ms\" or \"2d\"");
        }
        try {
            return Duration.ofMillis(millis.longValueExact());
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException('"' + text + "\" is no whole number of milliseconds", e);
        }
    }
}
