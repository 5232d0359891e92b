package io.github.duskdb.junit;

/** What is said of arguments that are wrong. */
final class Arguments {
    private Arguments() {}

    /** Throws an exception with the message unless the argument is right. */
    static void check(boolean right, String message) {
        if (!right) {
            throw new IllegalArgumentException(message);
        }
    }

    /** Returns a text that must not be empty. */
    static String notEmpty(String what, String text) {
        check(text != null && !text.isEmpty(), what + " must not be null or empty");
        return text;
    }
}
