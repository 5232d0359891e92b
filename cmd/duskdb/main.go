// Command duskdb is the DuskDB server: MongoDB's protocol and language over
// an embedded store, for data that expires.
//
//	duskdb                        serve on 127.0.0.1:27017, data in ./duskdb-data
//	duskdb --dbpath :memory:      keep nothing
//	duskdb --port 0               take a free port
//	duskdb ping                   check that a server answers (for health checks)
//	duskdb backup --out DIR       have a running server copy its data
//	duskdb restore DIR            make a data directory of a backup
//	duskdb check                  is the data sound?
//	duskdb copy FROM TO           bring the data to another storage engine
//	duskdb import, duskdb export  JSON, CSV and dumps of mongodump
//	duskdb completion, duskdb man for shells and readers
//
// Flags are named as mongod's. Each can also be set by an environment
// variable (--bind_ip: DUSKDB_BIND_IP) or in mongod's YAML configuration.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/commandline"
	"github.com/duskdb/duskdb/internal/plain"
	"github.com/duskdb/duskdb/internal/transfer"
	"github.com/duskdb/duskdb/server"
)

func main() { os.Exit(run(os.Args[1:])) }

// cli is the command line.
type cli struct {
	Serve   serveCmd   `cmd:"" default:"withargs" help:"Run the server (the default)."`
	Ping    pingCmd    `cmd:"" help:"Ping a server; exits 0 if it answers."`
	Backup  backupCmd  `cmd:"" help:"Copy the data of a running server to a new directory."`
	Restore restoreCmd `cmd:"" help:"Create a data directory from a backup."`
	Check   checkCmd   `cmd:"" help:"Check a data directory that is not in use."`
	Copy    copyCmd    `cmd:"" help:"Copy the data of one storage engine to another, or of a directory to a new one."`
	Import  importCmd  `cmd:"" help:"Import JSON, CSV or a dump of mongodump into a server."`
	Export  exportCmd  `cmd:"" help:"Export a collection of a server as JSON or CSV."`
	Version versionCmd `cmd:"" help:"Print the version."`

	Completion completionCmd `cmd:"" help:"Print a completion script for a shell."`
	Man        manCmd        `cmd:"" help:"Print the manual page."`
}

// describe returns the command line, which fills c.
func describe(c *cli) *commandline.App {
	c.Serve = newServe()
	app := commandline.New(c, commandline.App{
		Name:    "duskdb",
		Help:    "A MongoDB-compatible server for data that expires. The options of the server: duskdb serve --help.",
		Version: fmt.Sprintf("db version v%s\nduskdb v%s\n", server.MongoDBVersion, version), // in mongod's form
	}, "DUSKDB")
	withoutVariables(app)
	return app
}

// run parses the command line, runs the command and returns the exit code.
func run(args []string) int {
	var c cli
	app := describe(&c)
	c.Serve.misspelt = misspelt(app, os.Environ())
	command, text, err := app.Parse(normalise(args))
	switch {
	case errors.Is(err, commandline.ErrHelp):
		fmt.Print(text)
		return 0
	case err != nil:
		fmt.Fprintln(os.Stderr, "duskdb:", plain.Text(err))
		return badUsage
	}
	if err = command.Run(app); err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "duskdb:", c.Serve.file.locate(whereGiven(command, err)))
	if isUsage(err) {
		return badUsage
	}
	return 1
}

// badUsage is the exit code for what the command line, the variables or the configuration file
// have wrong, and 1 that for everything else.
const badUsage = 2

// whereGiven is the text of an error. If it begins with the name of an option, as those of the
// server's options do, it says instead where the option is given: --name, its variable, or its
// place in the configuration file.
func whereGiven(c *commandline.Command, err error) string {
	text := plain.Text(err)
	if !isUsage(err) {
		return text
	}
	name := text
	if end := strings.IndexAny(text, " :"); end > 0 {
		name = text[:end]
	}
	if origin := c.Origin(name); origin != "" {
		return origin + text[len(name):]
	}
	return text
}

// usageError is the error of a wrong command line.
type usageError struct{ error }

// Unwrap is for errors.As.
func (e usageError) Unwrap() error { return e.error }

// asUsage makes an error, if it is one, that of a wrong command line.
func asUsage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// isUsage reports whether an error is that of an option, wherever it was found.
func isUsage(err error) bool {
	var usage usageError
	var option *server.OptionError
	var address *transfer.URIError
	return errors.As(err, &usage) || errors.As(err, &option) || errors.As(err, &address)
}

// withVariables are the commands whose flags environment variables set: the
// server, and the health check in its container.
var withVariables = []string{"serve", "ping"}

// places are the flags that say where the data is.
var places = []string{"uri", "dbpath", "storageURI"}

// withoutVariables takes the variables from the flags of the other commands, except for
// --uri, --dbpath and --storageURI, which say where the data is. Several commands have a
// --drop, an --out or a --timeout: a variable would set all of them, and could drop a
// collection that nobody named.
func withoutVariables(app *commandline.App) {
	for _, command := range app.Commands {
		if slices.Contains(withVariables, command.Name) {
			continue
		}
		for _, flag := range command.Flags {
			if !slices.Contains(places, flag.Name) {
				flag.Env = ""
			}
		}
	}
}

// valuedBooleans are flags of mongod that are followed by true or false.
var valuedBooleans = []string{"--enableMajorityReadConcern", "--wiredTigerIndexPrefixCompression"}

// normalise turns mongod's -vvv into one -v with a count, former names of flags into the
// present ones, and "help serve" into "serve --help".
func normalise(args []string) []string {
	if len(args) > 0 && args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	out := make([]string, 0, len(args))
	for i, a := range args {
		if i > 0 && args[i-1] == "--sslMode" {
			a = presentMode(a)
		}
		if i > 0 && slices.Contains(valuedBooleans, args[i-1]) && (a == "true" || a == "false") {
			out[len(out)-1] += "=" + a
			continue
		}
		a = presentFlag(a)
		if len(a) > 2 && a[0] == '-' && strings.Trim(a[1:], "v") == "" {
			out = append(out, fmt.Sprintf("--verbose=%d", len(a)-1))
			continue
		}
		if a == "-v" {
			a = "--verbose=1"
		}
		out = append(out, a)
	}
	return out
}
