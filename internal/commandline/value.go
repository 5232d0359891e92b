package commandline

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// parse sets the value to a text. A list grows by it, or begins with it.
func (v *Value) parse(text string) error {
	texts := []string{text}
	if v.isList() {
		if v.sep != "none" {
			texts = split(text, v.sep)
		}
		if !v.set {
			v.target.SetZero()
		}
	}
	v.set = true
	for _, text := range texts {
		if v.kind != "" {
			text = expand(text)
		}
		if err := v.check(text); err != nil {
			return err
		}
		target := v.target
		switch target.Kind() {
		case reflect.Slice:
			v.target.Set(reflect.Append(target, reflect.ValueOf(text)))
			continue
		case reflect.Pointer:
			target.Set(reflect.New(target.Type().Elem()))
			target = target.Elem()
		}
		if err := assign(target, text); err != nil {
			return err
		}
	}
	return nil
}

// split divides a text, but for separators behind a backslash.
func split(text, sep string) []string {
	const escaped = "\x00"
	parts := strings.Split(strings.ReplaceAll(text, `\`+sep, escaped), sep)
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], escaped, sep)
	}
	return parts
}

// expand replaces the home directory at the beginning of a path: shells do not in --flag=~/file.
func expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return path
}

// check applies the tags enum and type.
func (v *Value) check(text string) error {
	if v.Enum != "" && !slices.Contains(strings.Split(v.Enum, ","), text) {
		return &enumError{v.Enum, text}
	}
	if v.kind == "" || text == "-" {
		return nil
	}
	info, err := os.Stat(text)
	switch {
	case err != nil:
		return err
	case v.kind == "existingfile" && info.IsDir():
		return fmt.Errorf("%q exists but is a directory", text)
	case v.kind == "existingdir" && !info.IsDir():
		return fmt.Errorf("%q exists but is not a directory", text)
	}
	return nil
}

// enumError is the error of a value that is not among the allowed ones.
type enumError struct{ enum, text string }

func (e *enumError) Error() string {
	return fmt.Sprintf(`must be one of "%s" but got %q`, strings.ReplaceAll(e.enum, ",", `","`), e.text)
}

// assign sets a variable to a text. Numbers may be octal or hexadecimal.
func assign(target reflect.Value, text string) error {
	if _, ok := target.Interface().(time.Duration); ok {
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("expected duration but got %q: %w", text, err)
		}
		target.SetInt(int64(d))
		return nil
	}
	switch kind := target.Kind(); kind {
	case reflect.String:
		target.SetString(text)
	case reflect.Bool:
		b, known := booleans[text]
		if !known {
			return fmt.Errorf("bool value must be true, 1, yes, false, 0 or no but got %q", text)
		}
		target.SetBool(b)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 0, 64)
		if err != nil {
			return fmt.Errorf("expected a valid 64 bit int but got %q", text)
		}
		target.SetInt(n)
	case reflect.Float64:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("expected a float but got %q", text)
		}
		target.SetFloat(f)
	default:
		panic("commandline: a field of type " + target.Type().String())
	}
	return nil
}

var booleans = map[string]bool{"true": true, "1": true, "yes": true, "false": false, "0": false, "no": false}
