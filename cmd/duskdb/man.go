package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/duskdb/duskdb/internal/commandline"
)

// manCmd prints the manual page, generated from the definitions of the flags.
type manCmd struct{}

// Run prints the page.
func (manCmd) Run(app *commandline.App) error {
	return manual(os.Stdout, app.Help, verbsOf(app))
}

// manual writes the page in roff: man -l <(duskdb man).
func manual(w io.Writer, summary string, verbs []verb) error {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH DUSKDB 1 \"\" \"duskdb %s\" \"User Commands\"\n", roff(version))
	summary, _, _ = strings.Cut(summary, ".") // the first sentence
	fmt.Fprintf(&b, ".SH NAME\nduskdb \\- %s\n", roff(summary))
	b.WriteString(".SH SYNOPSIS\n.nf\n")
	for _, v := range verbs {
		name := v.name
		if v.implied {
			name = "[" + name + "]"
		}
		fmt.Fprintf(&b, "\\fBduskdb %s\\fR%s [flags]\n", roff(name), roff(arguments(v)))
	}
	b.WriteString(".fi\n.SH COMMANDS\n")
	for _, v := range verbs {
		fmt.Fprintf(&b, ".SS duskdb %s\n%s\n", roff(v.name), roff(v.help))
		for _, a := range v.args {
			fmt.Fprintf(&b, ".TP\n\\fI%s\\fR\n%s\n", roff(a.Name), roff(a.Help))
		}
		for _, f := range v.flags {
			manualFlag(&b, f)
		}
	}
	b.WriteString(manualRest)
	_, err := io.WriteString(w, b.String())
	return err
}

// manualRest is the manual behind the commands.
const manualRest = `.SH ENVIRONMENT
Each flag can be set by a variable, which is named with it above.
.TP
.BR DUSKDB_ROOT_USERNAME ", " DUSKDB_ROOT_PASSWORD
Make the first user, and demand logins. MONGO_INITDB_ROOT_USERNAME and
MONGO_INITDB_ROOT_PASSWORD do the same; with _FILE behind its name, a variable
names the file that has the value.
.TP
.B MONGO_INITDB_DATABASE
The database of the seeds of \-\-initdb.
.SH FILES
In the directory of \-\-dbpath, with the storage engine bunt:
.TP
.I duskdb.bunt
The log: all data.
.TP
.I duskdb.bunt.n
The log's later files, in order.
.TP
.I duskdb.lock
The process that has the directory open. Do not remove it.
.TP
.I duskdb.state
The length of the log when it was last created, compacted or closed.
.TP
.I duskdb.version
The version that wrote to the directory last.
.TP
.I duskdb.reserve
Space reserved for deletes on a full disk.
.TP
.I duskdb.bunt.damaged\-n
A file of the log as it was before \-\-repair.
.TP
.I duskdb.pebble.damaged\-n
What a start has cut off a damaged log of the engine pebble.
.SH SIGNALS
.TP
.BR TERM ", " INT
Finish the running commands and exit with 0. A second one cuts that short.
.TP
.B HUP
Read the TLS certificates again.
.TP
.B USR1
Start a new log file.
.SH EXIT STATUS
0 after success, 1 after a failure, 2 if the command line is wrong.
.SH EXAMPLES
.nf
duskdb \-\-dbpath :memory: \-\-port 0
duskdb import \-\-uri mongodb://127.0.0.1/shop orders.ndjson
duskdb export \-d shop \-c orders \-\-type csv \-\-fields _id,total
duskdb backup \-\-out /backups/monday
.fi
`

// arguments of a command, as its synopsis shows them.
func arguments(v verb) string {
	var b strings.Builder
	for _, a := range v.args {
		if a.Required {
			fmt.Fprintf(&b, " <%s>", a.Name)
		} else {
			fmt.Fprintf(&b, " [<%s>]", a.Name)
		}
	}
	return b.String()
}

// manualFlag writes the entry of one flag.
func manualFlag(b *strings.Builder, f *commandline.Flag) {
	b.WriteString(".TP\n")
	if f.Short != "" {
		fmt.Fprintf(b, "\\fB\\-%s\\fR, ", f.Short)
	}
	fmt.Fprintf(b, "\\fB%s\\fR", roff("--"+f.Name))
	if !f.IsBool() {
		fmt.Fprintf(b, "=\\fI%s\\fR", roff(strings.ToUpper(f.Name)))
	}
	fmt.Fprintf(b, "\n%s", roff(f.Help))
	if f.Default != "" && !f.IsBool() {
		fmt.Fprintf(b, " Default: %s.", roff(f.Default))
	}
	if f.Env != "" {
		fmt.Fprintf(b, " ($%s)", roff(f.Env))
	}
	b.WriteString("\n")
}

// roff escapes text: a backslash, a hyphen that is a minus, and a line that
// would be a request.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...", "’", "'").Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}
