package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// flagOptions are the options that a file in the old form may have, by their flags.
var flagOptions = func() map[string]*option {
	byFlag := map[string]*option{}
	for _, table := range [][]option{mongodOptions, duskdbKeys} {
		for i := range table {
			if o := &table[i]; o.flag != "" {
				byFlag[o.flag] = o
			}
		}
	}
	return byFlag
}()

// assignment is a line of a file in the old form.
var assignment = regexp.MustCompile(`^\s*[A-Za-z_]\w*\s*=`)

// isINI reports whether a file has the form that mongod had before YAML. To YAML most such
// files are one string, by which mongod knows them; comments between the lines make them
// no YAML at all.
func isINI(raw []byte, root *yaml.Node, err error) bool {
	if err == nil {
		return root.Kind == yaml.DocumentNode && root.Content[0].Kind == yaml.ScalarNode && root.Content[0].Tag != "!!null"
	}
	for line := range bytes.Lines(raw) {
		if text := bytes.TrimSpace(line); len(text) > 0 && text[0] != '#' {
			return assignment.Match(text)
		}
	}
	return false
}

// readINI reads lines of the form name = value, whose names are those of the command line.
func (c *configFile) readINI(raw []byte) error {
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for number := 1; lines.Scan(); number++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, text, ok := strings.Cut(line, "=")
		if !ok {
			return atLine(number, inINI(fmt.Errorf("the options configuration file contains an invalid line '%s'", line)))
		}
		if err := c.assign(strings.TrimSpace(name), strings.TrimSpace(text), number); err != nil {
			return atLine(number, inINI(err))
		}
	}
	c.finish()
	return lines.Err()
}

func inINI(err error) error { return fmt.Errorf("Error parsing INI config file: %w", err) }

// assign sets an option of the command line.
func (c *configFile) assign(name, text string, line int) error {
	if name != "" && strings.Trim(name, "v") == "" {
		name, text = "verbose", strconv.Itoa(len(name))
	}
	present, value, changed := strings.Cut(strings.TrimPrefix(presentFlag("--"+name+"="+text), "--"), "=")
	if changed {
		name, text = present, value
	}
	o := flagOptions[name]
	if o == nil {
		return fmt.Errorf("unrecognised option '%s'%s", name, meantFlag(name))
	}
	on := true
	switch {
	case name == "verbose":
		text = verbosityText(text)
	case o.kind == boolean:
		var err error
		if on, err = truth(name, text); err != nil {
			return err
		}
		text = "true"
	}
	switch {
	case !on: // as if it were not there
	case o.use == refused:
		return fmt.Errorf("%s is not supported: %s", name, o.note)
	case o.use == ignored:
		c.ignored = append(c.ignored, name)
	case name == "setParameter":
		parameter, v, ok := strings.Cut(text, "=")
		if !ok {
			return fmt.Errorf("Illegal option assignment: \"%s\"", text)
		}
		c.setParameter(parameter, "setParameter "+parameter, v, line)
	case o.parameter != "":
		c.setParameter(o.parameter, name, text, line)
	default:
		c.set(name, name, text, line)
	}
	return nil
}

// verbosityText is the value of verbose as a number: mongod takes "true" for one v.
func verbosityText(text string) string {
	switch {
	case text == "true" || text == "":
		return "1"
	case strings.Trim(text, "v") == "":
		return strconv.Itoa(len(text))
	}
	return text
}

// truth reads a boolean as mongod's old form has it.
func truth(name, text string) (bool, error) {
	switch strings.ToLower(text) {
	case "", "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0":
		return false, nil
	}
	return false, errors.New("the argument ('" + text + "') for option '" + name + "' is invalid. Valid choices are 'on|off', 'yes|no', '1|0' and 'true|false'")
}
