package commandline

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// App is a program with commands.
type App struct {
	Name, Help string
	Version    string // what --version prints
	Commands   []*Command
}

// Command is one command of a program.
type Command struct {
	Name, Help string
	Default    bool // runs if none is named
	Args       []*Value
	Flags      []*Flag // flags of the struct, hidden ones as well

	target any
}

// Value is what a flag or an argument sets.
type Value struct {
	Name, Help string
	Enum       string // the allowed values, with commas; "": any
	Range      string // the least and the greatest value of a number, with a comma; "": any
	Default    string
	Required   bool

	kind   string // value of the tag type
	sep    string
	target reflect.Value
	given  bool   // by the command line
	set    bool   // by anything but the default
	origin string // where the value stands, for messages; "": it is the default
}

// Flag is a named value of a command.
type Flag struct {
	Value
	Short  string // one letter, or nothing
	Alias  string
	Env    string // variable that sets it; "": none
	Unless string // flags and arguments on the command line that the variable gives way to, with commas
	Group  string
	Hidden bool
}

// VisibleFlags are the flags of the help text: those of every command, and those of the command
// that are not hidden.
func (c *Command) VisibleFlags() []*Flag {
	return append(slices.Clone(globals), slices.DeleteFunc(slices.Clone(c.Flags), func(f *Flag) bool { return f.Hidden })...)
}

// globals are the flags that every command has.
var globals = []*Flag{
	{Value: Value{Name: "help", Help: "Show context-sensitive help.", target: reflect.ValueOf(new(bool)).Elem()}, Short: "h"},
	{Value: Value{Name: "version", Help: "Print the versions, in mongod's form.", target: reflect.ValueOf(new(bool)).Elem()}},
}

// IsBool reports whether the flag needs no value.
func (v *Value) IsBool() bool { return elem(v.target.Type()).Kind() == reflect.Bool }

// isList reports whether several values are a list.
func (v *Value) isList() bool { return v.target.Kind() == reflect.Slice }

// New describes a program by a pointer to a struct of its commands. Variables begin with the
// prefix.
func New(cli any, app App, prefix string) *App {
	structure := reflect.ValueOf(cli).Elem()
	for i := range structure.NumField() {
		f := structure.Type().Field(i)
		c := &Command{Name: strings.ToLower(f.Name), Help: f.Tag.Get("help"), Default: f.Tag.Get("default") != "", target: structure.Field(i).Addr().Interface()}
		c.add(structure.Field(i), "", prefix)
		app.Commands = append(app.Commands, c)
	}
	return &app
}

// FlagNames are the names of the flags of a struct, without those of interfaces in it.
func FlagNames(command any) (names []string) {
	var c Command
	c.add(reflect.ValueOf(command).Elem(), "", "")
	for _, f := range c.Flags {
		names = append(names, f.Name)
	}
	return names
}

// add adds the fields of a struct to the command.
func (c *Command) add(structure reflect.Value, group, prefix string) {
	for i := range structure.NumField() {
		f, v := structure.Type().Field(i), structure.Field(i)
		if !f.IsExported() {
			continue
		}
		group := cmp.Or(f.Tag.Get("group"), group)
		if has(f, "embed") {
			if v.Kind() == reflect.Interface && !v.IsNil() {
				v = v.Elem().Elem()
			}
			if v.Kind() == reflect.Struct {
				c.add(v, group, prefix)
			}
			continue
		}
		value := Value{
			Name: cmp.Or(f.Tag.Get("name"), strings.ToLower(f.Name)), Help: f.Tag.Get("help"), Enum: f.Tag.Get("enum"),
			Range: f.Tag.Get("range"), Default: f.Tag.Get("default"), kind: f.Tag.Get("type"), sep: cmp.Or(f.Tag.Get("sep"), ","), target: v,
		}
		if has(f, "arg") {
			value.Required = !has(f, "optional")
			c.Args = append(c.Args, &value)
			continue
		}
		value.Required = has(f, "required")
		flag := &Flag{Value: value, Short: f.Tag.Get("short"), Alias: f.Tag.Get("aliases"), Unless: f.Tag.Get("unless"), Group: group, Hidden: has(f, "hidden")}
		flag.Env = cmp.Or(f.Tag.Get("env"), prefix+"_"+variable(value.Name))
		if flag.Env == "-" {
			flag.Env = ""
		}
		c.Flags = append(c.Flags, flag)
	}
}

func has(f reflect.StructField, tag string) bool {
	_, ok := f.Tag.Lookup(tag)
	return ok
}

// variable is the name of a flag as variables have it: TLS_CA_FILE for tlsCAFile.
func variable(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		before, after := i > 0 && unicode.IsLower(runes[i-1]), i > 0 && i+1 < len(runes) && unicode.IsUpper(runes[i-1]) && unicode.IsLower(runes[i+1])
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = '_'
		case unicode.IsUpper(r) && (before || after):
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}

// elem is the type behind a pointer.
func elem(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}
