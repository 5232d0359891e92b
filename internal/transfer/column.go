package transfer

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/duskdb/duskdb/value"
)

// column is a field that the records of a table have.
type column struct {
	name  string
	parse func(string) (value.Value, error)
}

// columnTypes are the types that a column may name, as in mongoimport.
var columnTypes = map[string]func(arg string) (func(string) (value.Value, error), error){
	"auto":        plain(automatic),
	"binary":      binaryOf,
	"boolean":     plain(boolean),
	"date":        dateIn(goLayout),
	"date_go":     dateIn(goLayout),
	"date_ms":     dateIn(microsoftLayout),
	"date_oracle": dateIn(oracleLayout),
	"decimal":     plain(decimal),
	"double":      plain(double),
	"int32":       plain(int32Of),
	"int64":       plain(int64Of),
	"string":      plain(func(s string) (value.Value, error) { return value.String(s), nil }),
}

// parseColumns reads the names of columns: "a", or "a.int32()" with types.
func parseColumns(names []string, typed bool) ([]column, error) {
	out := make([]column, len(names))
	for i, name := range names {
		name = strings.TrimSpace(name)
		out[i] = column{name, automatic}
		if typed {
			open := strings.IndexByte(name, '(')
			if open < 0 || !strings.HasSuffix(name, ")") {
				return nil, fmt.Errorf("column %q has no type: want name.type(argument)", name)
			}
			dot := strings.LastIndexByte(name[:open], '.')
			if dot < 0 {
				return nil, fmt.Errorf("column %q has no type: want name.type(argument)", name)
			}
			kind, known := columnTypes[name[dot+1:open]]
			if !known {
				return nil, fmt.Errorf("column %q: unknown type %s", name, name[dot+1:open])
			}
			parse, err := kind(name[open+1 : len(name)-1])
			if err != nil {
				return nil, fmt.Errorf("column %q: %w", name, err)
			}
			out[i] = column{name[:dot], parse}
		}
		if err := checkName(out[i].name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// checkName refuses invalid field names.
func checkName(name string) error {
	if name == "" || strings.HasPrefix(name, "$") || strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") || strings.Contains(name, "..") {
		return fmt.Errorf("a column cannot be named %q", name)
	}
	if strings.Count(name, ".") >= value.MaxDepth {
		return errDepth
	}
	return nil
}

// plain is a type without an argument.
func plain(parse func(string) (value.Value, error)) func(string) (func(string) (value.Value, error), error) {
	return func(arg string) (func(string) (value.Value, error), error) {
		if arg != "" {
			return nil, fmt.Errorf("the type takes no argument, not %q", arg)
		}
		return parse, nil
	}
}

// automatic takes the first of int32, int64 and double that fits, and string
// otherwise.
func automatic(s string) (value.Value, error) {
	if n, err := strconv.ParseInt(s, 10, 32); err == nil {
		return value.Int32(int32(n)), nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return value.Int64(n), nil
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return value.Double(f), nil
	}
	return value.String(s), nil
}

func int32Of(s string) (value.Value, error) {
	n, err := strconv.ParseInt(s, 10, 32)
	return value.Int32(int32(n)), asType(s, "an int32", err == nil)
}

func int64Of(s string) (value.Value, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	return value.Int64(n), asType(s, "an int64", err == nil)
}

func double(s string) (value.Value, error) {
	f, err := strconv.ParseFloat(s, 64)
	return value.Double(f), asType(s, "a double", err == nil)
}

func decimal(s string) (value.Value, error) {
	d, ok := value.ParseDecimal(s)
	return value.DecimalValue(d), asType(s, "a decimal", ok)
}

func boolean(s string) (value.Value, error) {
	switch strings.ToLower(s) {
	case "true", "1":
		return value.Bool(true), nil
	case "false", "0":
		return value.Bool(false), nil
	}
	return value.Value{}, asType(s, "a boolean", false)
}

func asType(s, kind string, ok bool) error {
	if ok {
		return nil
	}
	return fmt.Errorf("%q is not %s", s, kind)
}

// binaryOf is data in one of three encodings.
func binaryOf(encoding string) (func(string) (value.Value, error), error) {
	decoders := map[string]func(string) ([]byte, error){
		"base32": base32.StdEncoding.DecodeString, "base64": base64.StdEncoding.DecodeString, "hex": hex.DecodeString,
	}
	decode, known := decoders[encoding]
	if !known {
		return nil, fmt.Errorf("binary must be base64, base32 or hex, not %q", encoding)
	}
	return func(s string) (value.Value, error) {
		data, err := decode(s)
		return value.Binary(0, data), asType(s, encoding, err == nil)
	}, nil
}
