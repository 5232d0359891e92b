package io.github.duskdb.junit;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations, written as in all languages that DuskDB has a package for. */
final class Durations {
    /** About as far as the clock goes: to the end of the year 9999. */
    static final Duration MAX = Duration.ofDays(2_900_000);

    private static final Map<String, Long> MILLIS = Map.of("d", 86_400_000L, "h", 3_600_000L, "m", 60_000L, "s", 1000L, "ms", 1L);
    private static final Pattern PART = Pattern.compile("\\G\\s*(\\d+(?:\\.\\d+)?)(ms|d|h|m|s)\\s*");
    private static final String NULL = "null is no duration: give a Duration, or a text such as \"61m\"";

    private Durations() {}

    /** Returns a duration in milliseconds, of which the clock is made. It moves forward only. */
    static long millis(Duration duration) {
        Arguments.check(duration != null, NULL);
        Arguments.check(!duration.isNegative(), duration + " is negative: the clock moves forward only");
        Arguments.check(duration.compareTo(MAX) <= 0, duration + tooLong());
        Arguments.check(duration.getNano() % 1_000_000 == 0, duration + " is no whole number of milliseconds");
        return duration.toMillis();
    }

    /** Returns the duration that a text such as "61m" or "1h30m" stands for. */
    static Duration parse(String text) {
        Arguments.check(text != null, NULL);
        String quoted = '"' + text + '"';
        Arguments.check(!text.strip().startsWith("-"), quoted + " is negative: the clock moves forward only");
        BigDecimal millis = BigDecimal.ZERO;
        int end = 0;
        for (Matcher part = PART.matcher(text); part.find(); end = part.end()) {
            millis = millis.add(new BigDecimal(part.group(1)).multiply(BigDecimal.valueOf(MILLIS.get(part.group(2)))));
        }
        Arguments.check(end != 0 && end == text.length(), quoted + " is no duration like \"61m\", \"1h30m\", \"90s\", \"1500ms\" or \"2d\"");
        Arguments.check(millis.compareTo(BigDecimal.valueOf(MAX.toMillis())) <= 0, quoted + tooLong());
        Arguments.check(millis.stripTrailingZeros().scale() <= 0, quoted + " is no whole number of milliseconds");
        return Duration.ofMillis(millis.longValueExact());
    }

    private static String tooLong() {
        return " is longer than " + MAX.toDays() + " days";
    }
}
