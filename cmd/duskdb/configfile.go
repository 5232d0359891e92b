package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/duskdb/duskdb/internal/commandline"
)

// configFile is a configuration file in one of mongod's two forms, as flags of the
// command line. It resolves the flags that neither the command line nor an
// environment variable gives.
type configFile struct {
	flags      map[string]string // values by flag name: texts, as on the command line
	parameters map[string]string // parameters of the section setParameter, and of keys that stand for one
	places     map[string]string // lines and keys of these flags and parameters
	inForce    map[string]string // places of the parameters that the command line has not
	ignored    []string          // keys without effect
	toFile     bool              // whether systemLog.destination is file
}

// fileOptions are the options that a file may have, by their keys.
var fileOptions = func() map[string]*option {
	byKey := map[string]*option{}
	for _, table := range [][]option{mongodOptions, duskdbKeys} {
		for i := range table {
			if o := &table[i]; o.key != "" {
				byKey[o.key] = o
			}
		}
	}
	for old, now := range deprecatedKeys {
		byKey[old] = byKey[now]
	}
	return byKey
}()

// readConfig reads a configuration file, in YAML or in the form that mongod had before.
// Messages about its keys are mongod's.
func readConfig(r io.Reader) (*configFile, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxConfig+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxConfig {
		return nil, errors.New("the configuration file is too large")
	}
	c := &configFile{flags: map[string]string{}, places: map[string]string{}, parameters: map[string]string{}, inForce: map[string]string{}}
	var root yaml.Node
	err = yaml.NewDecoder(bytes.NewReader(raw)).Decode(&root)
	if errors.Is(err, io.EOF) {
		return c, nil
	}
	if isINI(raw, &root, err) {
		return c, c.readINI(raw)
	}
	if err != nil {
		return nil, fmt.Errorf("Error parsing YAML config file: %w", err)
	}
	if err := c.section("", root.Content[0]); err != nil {
		return nil, err
	}
	c.finish()
	return c, nil
}

// maxConfig is the greatest size of a configuration file.
const maxConfig = 1 << 20

// section reads a mapping, whose keys are options or sections themselves. An
// empty section has no effect.
func (c *configFile) section(prefix string, n *yaml.Node) error {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		if n.Tag == "!!null" {
			return nil
		}
		if prefix == "" {
			return errors.New("No map found at top level of YAML config")
		}
		return unrecognized(strings.TrimSuffix(prefix, "."))
	}
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == "" {
			return errors.New("Found empty key in YAML config file")
		}
		key := prefix + n.Content[i].Value
		if seen[key] {
			return fmt.Errorf("Duplicate option: %s", key)
		}
		seen[key] = true
		if err := c.entry(key, n.Content[i+1]); err != nil {
			return atLine(n.Content[i].Line, err)
		}
	}
	return nil
}

func unrecognized(key string) error {
	return fmt.Errorf("Unrecognized option: %s%s", key, meantKey(key))
}

// lineError is an error of a line of the file.
type lineError struct {
	line  int
	cause error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.cause) }

// Unwrap returns what is wrong.
func (e *lineError) Unwrap() error { return e.cause }

// atLine adds the line to an error, unless the error names one.
func atLine(line int, err error) error {
	var known *lineError
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &lineError{line, err}
}

// entry reads one key with its value.
func (c *configFile) entry(key string, n *yaml.Node) error {
	o := fileOptions[key]
	switch {
	case o == nil:
		if !isSection(key) {
			return unrecognized(key)
		}
		return c.section(key+".", n)
	case o.use == refused:
		return fmt.Errorf("%s is not supported: %s", key, o.note)
	case o.key == "setParameter":
		return c.parameterSection(n)
	case o.kind == mapping:
		return c.document(o, n)
	}
	text, err := scalar(key, o.kind, n)
	if err != nil || text == "" && n.Tag == "!!null" {
		return err
	}
	switch {
	case o.use == ignored:
		c.ignored = append(c.ignored, key)
	case o.parameter != "":
		c.setParameter(o.parameter, key, text, n.Line)
	case key == o.key && o.flag != "":
		c.set(o.flag, key, text, n.Line)
	default:
		return c.translate(key, o, text, n.Line)
	}
	return nil
}

// isSection reports whether options begin with the key.
func isSection(key string) bool {
	for name := range fileOptions {
		if strings.HasPrefix(name, key+".") {
			return true
		}
	}
	return false
}

// scalar returns the text of a value, which must have the option's kind.
func scalar(key string, k kind, n *yaml.Node) (string, error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if k == list {
		if n.Kind != yaml.SequenceNode {
			return "", fmt.Errorf("Option: %s is of type StringVector, but value in YAML config is not a list type", key)
		}
		return joined(key, n)
	}
	if n.Kind != yaml.ScalarNode {
		return "", fmt.Errorf("Scalar option '%s' must be a single value", key)
	}
	if n.Tag == "!!null" {
		return "", nil
	}
	var err error
	switch k {
	case boolean:
		if n.Value != "true" && n.Value != "false" {
			return "", fmt.Errorf("Expected boolean but found string: %s for option: %s", n.Value, key)
		}
	case integer:
		_, err = strconv.ParseInt(n.Value, 0, 64)
	case number:
		_, err = strconv.ParseFloat(n.Value, 64)
	}
	if err != nil {
		return "", fmt.Errorf("Error parsing option %q as %s: %q is not a number", key, k, n.Value)
	}
	return n.Value, nil
}

// joined is a list with commas.
func joined(key string, n *yaml.Node) (string, error) {
	var items []string
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode {
			return "", fmt.Errorf("Option: %s has nested lists, which is not allowed", key)
		}
		items = append(items, item.Value)
	}
	return strings.Join(items, ","), nil
}

// set sets a flag, and notes the key that does so, and its line.
func (c *configFile) set(flag, key, text string, line int) {
	c.flags[flag], c.places[flag] = text, fmt.Sprintf("line %d: %s", line, key)
}

// setParameter sets a parameter, and notes the key that does so, and its line.
func (c *configFile) setParameter(name, key, text string, line int) {
	c.parameters[name], c.places[name] = text, fmt.Sprintf("line %d: %s", line, key)
}

// translate sets the flags of keys that have another form on the command line.
func (c *configFile) translate(key string, o *option, text string, line int) error {
	if o.flag != "" { // a deprecated key
		if o.flag == "tlsMode" {
			text = presentMode(text)
		}
		c.set(o.flag, key, text, line)
		return nil
	}
	c.toFile = c.toFile || o.key == "systemLog.destination" && text == "file"
	for _, f := range keyForms[o.key] {
		if f.value == text || f.value == "" {
			if f.flag != "" {
				if f.value != "" {
					text = f.as
				}
				c.set(f.flag, key, text, line)
			}
			return nil
		}
	}
	return fmt.Errorf("%s", badValues[o.key](text))
}

// keyForms map the values of keys without a flag to flags. The value "" stands
// for any value; the flag "" has no effect.
var keyForms = map[string][]struct{ value, flag, as string }{
	"security.authorization":       {{"enabled", "auth", "true"}, {"disabled", "noauth", "true"}},
	"security.javascriptEnabled":   {{"false", "noscripting", "true"}, {"true", "", ""}},
	"operationProfiling.mode":      {{"off", "profile", "0"}, {"slowOp", "profile", "1"}, {"all", "profile", "2"}},
	"replication.replSetName":      {{"", "replSet", ""}},
	"systemLog.destination":        {{"file", "", ""}},
	"net.unixDomainSocket.enabled": {{"true", "", ""}, {"false", "unixSocketPrefix", ""}},
}

// badValues are mongod's messages about other values.
var badValues = map[string]func(string) string{
	"security.authorization": func(string) string {
		return `security.authorization expects either "enabled" or "disabled"`
	},
	"operationProfiling.mode": func(v string) string {
		return "Bad value for operationProfiling.mode: " + v + ".  Supported modes are: (off|slowOp|all)"
	},
	"systemLog.destination": func(v string) string {
		if v == "syslog" {
			return "systemLog.destination: syslog is not supported: log to standard error or to a file"
		}
		return "Bad value for systemLog.destination: " + v + ".  Supported targets are: (syslog|file)"
	},
}

// parameterSection reads the section setParameter.
func (c *configFile) parameterSection(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return errors.New("Option: setParameter is of type StringMap, but value in YAML config is not a map type")
	}
	for i := 0; i < len(n.Content); i += 2 {
		name, v := n.Content[i].Value, n.Content[i+1]
		text, err := v.Value, error(nil)
		if v.Kind != yaml.ScalarNode {
			text, err = asJSON(v)
		}
		if err != nil {
			return fmt.Errorf("setParameter.%s: %w", name, err)
		}
		c.setParameter(name, "setParameter."+name, text, v.Line)
	}
	return nil
}

// document reads a mapping that is a parameter as a whole.
func (c *configFile) document(o *option, n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return unrecognized(o.key)
	}
	text, err := asJSON(n)
	if err != nil {
		return fmt.Errorf("%s: %w", o.key, err)
	}
	c.setParameter(o.parameter, o.key, text, n.Line)
	return nil
}

func asJSON(n *yaml.Node) (string, error) {
	var v any
	if err := n.Decode(&v); err != nil {
		return "", err
	}
	text, err := json.Marshal(v)
	return string(text), err
}

// finish applies the rules between keys: clusterAuthMode turns access control
// on unless the file sets it.
func (c *configFile) finish() {
	slices.Sort(c.ignored)
	if c.flags["auth"] == "" && c.flags["noauth"] == "" && slices.Contains(c.ignored, "security.clusterAuthMode") {
		c.flags["auth"] = "true"
	}
}

// Resolve reads the configuration file, if there is one, and returns its flags. An --auth of the
// command line overrides the file's authorization.
func (s *serveCmd) Resolve(given func(flag string) bool) (map[string]commandline.Setting, error) {
	if s.Config == "" {
		return nil, nil
	}
	f, err := os.Open(s.Config)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	defer func() { _ = f.Close() }()
	if s.file, err = readConfig(f); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Config, err)
	}
	for name, place := range s.file.places {
		s.file.places[name] = s.Config + ": " + place
	}
	settings := map[string]commandline.Setting{}
	for flag, text := range s.file.flags {
		if flag != "noauth" || !given("auth") {
			settings[flag] = commandline.Setting{Text: text, Origin: cmp.Or(s.file.places[flag], s.Config+": "+flag)}
		}
	}
	return settings, nil
}

// apply adds the parameters of the file to those of the command line, which
// override them.
func (c *configFile) apply(params map[string]string) {
	if c == nil {
		return
	}
	for name, v := range c.parameters {
		if _, given := params[name]; !given {
			params[name], c.inForce[name] = v, c.places[name]
		}
	}
}

// locate adds to the text of an error the place of the parameter of the file that it is about, if
// it is about one.
func (c *configFile) locate(text string) string {
	if c == nil {
		return text
	}
	for _, name := range sortedNames(c.inForce) {
		if regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(text) {
			return c.inForce[name] + ": " + text
		}
	}
	return text
}

func sortedNames(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
