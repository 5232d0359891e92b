package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/duskdb/duskdb/internal/editdistance"
	"github.com/duskdb/duskdb/server"
)

// likeMongod are flags that other programs pass to a mongod that they start,
// such as mongodb-memory-server with a system binary.
type likeMongod struct {
	StorageEngine string `group:"Data" name:"storageEngine" enum:"bunt,pebble,postgres,wiredTiger,inMemory,ephemeralForTest" default:"bunt" help:"Storage engine. bunt: all data in memory, and in a log on disk. pebble: data larger than memory on disk, through a cache (--cacheSize). postgres: several servers over one PostgreSQL database (--storageURI). mongod's names are accepted: wiredTiger is bunt; inMemory and ephemeralForTest store nothing on disk (--dbpath :memory:)."`
	StorageURI    string `group:"Data" name:"storageURI" help:"Database of the engine postgres: postgres://user:password@host/database. It has a password: better set it in the environment (DUSKDB_STORAGE_URI) or the configuration file."`
	CacheSize     string `group:"Data" name:"cacheSize" help:"Memory for data that the engine pebble reads from disk: bytes, 256MB, or a percentage of the machine's or container's memory."`
	KeyFile       string `group:"Access and TLS" name:"keyFile" type:"existingfile" help:"File with the key that members of a replica set share. There is only one member; as in mongod, the option turns access control on."`

	NoScripting bool `group:"Access and TLS" name:"noscripting" help:"Refuse server-side JavaScript: $where, $function, $accumulator and mapReduce."`

	Word string `arg:"" name:"mongod" optional:"" help:"The word mongod, with which commands of containers begin; no effect."`
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

// engine is the name of the engine that the flag stands for.
func (l *likeMongod) engine() string {
	if slices.Contains(server.StorageEngines(), l.StorageEngine) {
		return l.StorageEngine
	}
	return server.StorageEngines()[0]
}

// warnings are about names that stand for something else, and settings that
// the engine does not have.
func (l *likeMongod) warnings() (texts []string) {
	if l.StorageEngine == "wiredTiger" {
		texts = append(texts, "--storageEngine wiredTiger: the data are stored by "+l.engine()+", in DuskDB's own format")
	}
	if l.CacheSize != "" && !server.HasCache(l.engine()) {
		texts = append(texts, "--cacheSize has no effect: all data of the storage engine "+l.engine()+" are in memory; see --memoryLimit")
	}
	return texts
}

// apply translates these flags to the other ones.
func (l *likeMongod) apply(s *serveCmd) error {
	if l.StorageEngine == "inMemory" || l.StorageEngine == "ephemeralForTest" {
		s.DBPath = server.Memory
	}
	if l.Word != "" && l.Word != "mongod" {
		return unknownCommand(l.Word)
	}
	if l.KeyFile == "" {
		return nil
	}
	s.Security.Auth = true
	if err := checkKeyMode(l.KeyFile); err != nil {
		return usageError{err}
	}
	key, err := os.ReadFile(l.KeyFile)
	if err != nil {
		return usageError{fmt.Errorf("keyFile: %w", err)}
	}
	return asUsage(checkKeys(l.KeyFile, string(key)))
}

// unknownCommand is the error of a word that is no command, or a command that is not the first
// word.
func unknownCommand(word string) error {
	like := map[string]string{
		"start": `; "duskdb" alone starts a server`,
		"stop":  `; "duskdb --shutdown --dbpath DIR" stops the server of a data directory`,
	}[word]
	for _, c := range describe(new(cli)).Commands {
		switch distance := editdistance.Levenshtein(c.Name, word); {
		case distance == 0:
			return usageError{fmt.Errorf("unexpected argument %s: the command must be the first word, as in \"duskdb %s …\"", word, word)}
		case distance <= 2 && like == "":
			like = fmt.Sprintf(", did you mean %q?", "duskdb "+c.Name)
		}
	}
	return usageError{fmt.Errorf("unexpected argument %s%s", word, cmp.Or(like, `; the commands are listed by "duskdb --help"`))}
}

// checkKeys applies mongod's rules to a key file: a key, or a list of one or two in YAML,
// as it is while keys are exchanged.
func checkKeys(path, text string) error {
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(text), &root); err != nil {
		return fmt.Errorf("error reading file: %s: %w", path, err)
	}
	keys, err := keysOf(&root)
	switch {
	case err != nil:
		return err
	case len(keys) == 0:
		return fmt.Errorf("Security key file %s does not contain any valid keys", path)
	case len(keys) > 2:
		return fmt.Errorf("Only two keys are supported in the security key file, %d are specified in %s", len(keys), path)
	}
	for _, key := range keys {
		if err := checkKey(path, key); err != nil {
			return err
		}
	}
	return nil
}

// keysOf returns the strings in a document, in lists, or alone.
func keysOf(n *yaml.Node) (keys []string, err error) {
	switch n.Kind {
	case yaml.ScalarNode:
		return []string{n.Value}, nil
	case yaml.MappingNode, yaml.AliasNode:
		return nil, errors.New("Only strings and sequences are supported for YAML key files")
	}
	for _, child := range n.Content {
		more, err := keysOf(child)
		if err != nil {
			return nil, err
		}
		keys = append(keys, more...)
	}
	return keys, nil
}

// checkKey checks one key: 6 to 1024 characters of base64, and white space, which does not
// count.
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
