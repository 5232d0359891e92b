package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/duskdb/duskdb/server"
)

// likeMongod are flags that other programs pass to a mongod that they start,
// such as mongodb-memory-server with a system binary.
type likeMongod struct {
	StorageEngine string `name:"storageEngine" enum:"wiredTiger,inMemory,ephemeralForTest" default:"wiredTiger" help:"As in mongod: inMemory and ephemeralForTest store nothing on disk (--dbpath :memory:); wiredTiger stores data on disk, in DuskDB's own format."`
	KeyFile       string `name:"keyFile" type:"existingfile" help:"File with the key that members of a replica set share. There is only one member; as in mongod, the option turns access control on."`

	NoScripting bool `name:"noscripting" help:"Refuse server-side JavaScript: $$where, $$function, $$accumulator and mapReduce."`

	Word string `arg:"" optional:"" hidden:""` // "mongod", in front of the flags, as commands of containers have it
}

// readyLines are the lines that such programs wait for in the standard output;
// mongod logs the last of them when it has become primary.
func readyLines(member bool) string {
	lines := "Waiting for connections\n"
	if member {
		lines += "Transition to primary complete; database writes are now permitted\n"
	}
	return lines
}

// versionFlag is mongod's --version, which prints the version it is compatible
// with in mongod's form, and its own.
type versionFlag bool

// BeforeReset prints and ends the program before other flags are parsed.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	fmt.Fprintf(app.Stdout, "db version v%s\nduskdb v%s\n", server.MongoDBVersion, version)
	app.Exit(0)
	return nil
}

// apply translates these flags to the other ones.
func (l *likeMongod) apply(s *serveCmd) error {
	if l.StorageEngine != "wiredTiger" {
		s.DBPath = server.Memory
	}
	if l.Word != "" && l.Word != "mongod" {
		return usageError{fmt.Errorf("unexpected argument %s; the commands are listed by duskdb --help", l.Word)}
	}
	if l.KeyFile == "" {
		return nil
	}
	s.Security.Auth = true
	if err := checkKeyMode(l.KeyFile); err != nil {
		return err
	}
	key, err := os.ReadFile(l.KeyFile)
	if err != nil {
		return err
	}
	return checkKey(l.KeyFile, string(key))
}

// checkKey applies mongod's rules to a key: 6 to 1024 characters of base64,
// and white space, which does not count.
func checkKey(path, text string) error {
	key := strings.Join(strings.Fields(text), "")
	if len(key) < 6 || len(key) > 1024 {
		return fmt.Errorf("security key in %s has length %d, must be between 6 and 1024 chars", path, len(key))
	}
	const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
	if strings.Trim(key, base64) != "" {
		return errors.New("invalid char in key file " + path)
	}
	return nil
}
