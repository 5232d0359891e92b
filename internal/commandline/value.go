package commandline

import (
	"fmt"
	"math"
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
		if err := v.assign(target, text); err != nil {
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
		return &wantError{`one of "` + strings.ReplaceAll(v.Enum, ",", `","`) + `"`, got(text)}
	}
	if v.kind == "" || text == "-" {
		return nil
	}
	info, err := os.Stat(text)
	switch {
	case err != nil:
		return err
	case v.kind == "existingfile" && info.IsDir():
		return &wantError{"a file", text + " is a directory"}
	case v.kind == "existingdir" && !info.IsDir():
		return &wantError{"a directory", text + " is a file"}
	}
	return nil
}

// wantError is the error of a value that is not as it must be.
type wantError struct {
	want string
	is   string // what it is instead
}

func (e *wantError) Error() string { return "must be " + e.want + " but " + e.is }

func got(text string) string { return fmt.Sprintf("got %q", text) }

// within applies the tag range.
func (v *Value) within(n float64, text string) error {
	if v.Range == "" {
		return nil
	}
	least, greatest, _ := strings.Cut(v.Range, ",")
	low, high := bound(least, math.Inf(-1)), bound(greatest, math.Inf(1))
	switch {
	case n >= low && n <= high:
		return nil
	case greatest == "":
		return &wantError{"at least " + least, got(text)}
	}
	return &wantError{"from " + least + " to " + greatest, got(text)}
}

// bound is one end of a range, which may be octal.
func bound(text string, none float64) float64 {
	if n, err := strconv.ParseInt(text, 0, 64); err == nil {
		return float64(n)
	}
	return none
}

// assign sets a variable to a text. Numbers may be octal or hexadecimal.
func (v *Value) assign(target reflect.Value, text string) error {
	if _, ok := target.Interface().(time.Duration); ok {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return &wantError{"a duration such as 500ms, 10s or 1h", got(text)}
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
			return &wantError{"true, 1, yes, false, 0 or no", got(text)}
		}
		target.SetBool(b)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 0, 64)
		if err != nil {
			return &wantError{"a whole number", got(text)}
		}
		target.SetInt(n)
		return v.within(float64(n), text)
	case reflect.Float64:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return &wantError{"a number", got(text)}
		}
		target.SetFloat(f)
		return v.within(f, text)
	default:
		panic("commandline: a field of type " + target.Type().String())
	}
	return nil
}

var booleans = map[string]bool{"true": true, "1": true, "yes": true, "false": false, "0": false, "no": false}
