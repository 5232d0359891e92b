package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/duskdb/duskdb/internal/needs"
	"github.com/duskdb/duskdb/server"
)

// openTerminal returns the two sides of a new terminal: that of the person, and that of a
// program.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		needs.Missing(t, "/dev/ptmx")
	}
	t.Cleanup(func() { _ = person.Close() })
	fd := int(person.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return person, program
}

// TestImportAtTerminal types two documents and one end.
func TestImportAtTerminal(t *testing.T) {
	srv := serving(t, server.Config{})
	person, program := openTerminal(t)
	cmd := exec.CommandContext(t.Context(), built(t), "import", "--uri", "mongodb://"+srv.Addr()+"/app", "-c", "typed") //nolint:gosec // the binary under test
	cmd.Stdin = program
	var says strings.Builder
	cmd.Stdout, cmd.Stderr = &says, &says
	if _, err := io.WriteString(person, "{\"_id\": 1}\n{\"_id\": 2}\n\x04"); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, &says)
	}
	want := invitation() + "\n2 document(s) imported successfully. 0 document(s) failed to import.\n"
	if says.String() != want {
		t.Errorf("says %q, want %q", &says, want)
	}
	if n := stored(t, srv, "typed"); n != 2 {
		t.Errorf("%d documents are stored", n)
	}
}

// Bytes cannot be typed.
func TestBinaryAtTerminal(t *testing.T) {
	_, program := openTerminal(t)
	for args, kind := range map[string]string{
		"restore -":               "a backup",
		"import --archive -":      "an archive",
		"import --type bson -c c": "BSON",
	} {
		cmd := exec.CommandContext(t.Context(), built(t), strings.Fields(args)...) //nolint:gosec // the binary under test
		cmd.Stdin = program
		out, err := cmd.CombinedOutput()
		want := fmt.Sprintf("duskdb: %s is not read from a terminal: redirect standard input from a file\n", kind)
		if cmd.ProcessState.ExitCode() != 2 || string(out) != want {
			t.Errorf("%s: %v, says %q, want %q", args, err, out, want)
		}
	}
}
