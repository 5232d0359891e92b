package io.github.duskdb.junit;

import java.io.File;
import java.io.IOException;

/** The program that is a server, and how messages call it. */
final class Binary {
    final String path;
    final String name;

    private Binary(String path, String name) {
        this.path = path;
        this.name = name;
    }

    /** Returns the program that the variable DUSKDB_BINARY names, or the given one, or duskdb on the PATH. */
    static Binary find(String variable, String given) throws IOException {
        if (variable != null && !variable.isEmpty()) {
            return checked("DUSKDB_BINARY", variable);
        }
        if (given != null) {
            return checked("builder().binary", given);
        }
        return new Binary("duskdb", null);
    }

    private static Binary checked(String what, String path) throws IOException {
        File file = new File(path);
        String wrong = null;
        if (!file.exists()) {
            wrong = "does not exist";
        } else if (file.isDirectory()) {
            wrong = "is a directory: give the path of the program in it, such as " + new File(file, "duskdb");
        } else if (!file.canExecute()) {
            wrong = "is not executable: chmod +x " + path;
        }
        if (wrong != null) {
            throw new IOException(what + " is " + path + ", which " + wrong);
        }
        return new Binary(path, "the program " + path + " (" + what + ")");
    }

    /** Returns the error of a program that the system could not start. */
    IOException cannotRun(IOException cause) {
        if (name == null) {
            return new IOException("no duskdb binary found: set DUSKDB_BINARY, or put duskdb on the PATH; go build -o duskdb ./cmd/duskdb makes it in a clone", cause);
        }
        return new IOException(name + " cannot be run: is it for another system or processor?", cause);
    }

    @Override
    public String toString() {
        return name != null ? name : "the program duskdb on the PATH";
    }
}
