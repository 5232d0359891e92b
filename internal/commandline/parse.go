package commandline

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/editdistance"
)

// ErrHelp is the error of a command line that only asks for help, or for the version.
var ErrHelp = errors.New("help")

// Resolver is a command with values from elsewhere, such as a file that one of its flags names.
// They are asked for once, when the command line and the variables have been read.
type Resolver interface {
	// Resolve returns values by the names of flags; given reports whether the command line
	// has a flag.
	Resolve(given func(flag string) bool) (map[string]Setting, error)
}

// Setting is a value for a flag that comes from elsewhere.
type Setting struct {
	Text   string
	Origin string // where it stands, for messages; "": they name the flag
}

// Parse sets the fields of the command that a command line names, and returns it. If it is
// [ErrHelp], Text is what to print.
func (a *App) Parse(args []string) (c *Command, text string, err error) {
	c = a.command("")
	if len(args) > 0 {
		switch named := a.command(args[0]); {
		case args[0] == "--help" || args[0] == "-h":
			return nil, a.usage(), ErrHelp
		case named != nil:
			c, args = named, args[1:]
		}
	}
	rest, text, err := a.flags(c, args)
	if err != nil {
		return nil, text, err
	}
	if err := c.arguments(a, rest); err != nil {
		return nil, "", err
	}
	return c, "", c.complete()
}

// command finds a command; "" is the default one.
func (a *App) command(name string) *Command {
	i := slices.IndexFunc(a.Commands, func(c *Command) bool { return c.Name == name || name == "" && c.Default })
	if i < 0 {
		return nil
	}
	return a.Commands[i]
}

// flags sets the flags of a command line, and returns the arguments between them.
func (a *App) flags(c *Command, args []string) (rest []string, text string, err error) {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		name, value, attached := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return append(rest, args...), "", nil
		case arg == "--help" || arg == "-h":
			return nil, a.usageOf(c), ErrHelp
		case arg == "--version":
			return nil, a.Version, ErrHelp
		case len(arg) < 2 || arg[0] != '-':
			rest = append(rest, arg)
			continue
		case arg[1] != '-' && len(arg) > 2: // -xVALUE
			name, value, attached = arg[:2], strings.TrimPrefix(arg[2:], "="), true
		}
		f := c.flag(name)
		switch {
		case f == nil:
			return nil, "", a.unknown(c, arg)
		case !attached && f.IsBool():
			value = "true"
		case !attached && len(args) == 0:
			return nil, "", fmt.Errorf("--%s needs a value", f.Name)
		case !attached:
			value, args = args[0], args[1:]
		}
		f.given = true
		if err := f.assign(value, "--"+f.Name); err != nil {
			return nil, "", err
		}
	}
	return rest, "", nil
}

// flag finds a flag by -x or --name.
func (c *Command) flag(name string) *Flag {
	for _, f := range c.Flags {
		if name == "--"+f.Name || name == "-"+f.Short && f.Short != "" || name == "--"+f.Alias && f.Alias != "" {
			return f
		}
	}
	return nil
}

// unknown is the error of a flag that does not exist.
func (a *App) unknown(c *Command, arg string) error {
	name, _, _ := strings.Cut(arg, "=")
	meant := name
	if !strings.HasPrefix(name, "--") {
		meant = "-" + name // perhaps only the second dash is missing
	}
	if like := c.suggest(meant); like != "" {
		return fmt.Errorf("unknown flag %s%s", name, like)
	}
	return fmt.Errorf("unknown flag %s: %s lists the flags", name, a.helpOf(c))
}

// helpOf is the command line that explains a command.
func (a *App) helpOf(c *Command) string { return fmt.Sprintf("%q", a.Name+" "+c.Name+" --help") }

// suggest names the flags that are most like one that does not exist.
func (c *Command) suggest(name string) string {
	const far = 2
	var like []string
	nearest := far
	for _, f := range c.Flags {
		known := "--" + f.Name
		distance := editdistance.Levenshtein(known, name)
		if strings.HasPrefix(known, name) && len(name) > 2 {
			distance = min(distance, 1)
		}
		if f.Hidden || distance > nearest {
			continue
		}
		if distance < nearest {
			like, nearest = nil, distance
		}
		like = append(like, fmt.Sprintf("%q", known))
	}
	switch len(like) {
	case 0:
		return ""
	case 1:
		return ", did you mean " + like[0] + "?"
	}
	return ", did you mean one of " + strings.Join(like, ", ") + "?"
}

// assign sets a flag; its errors say where the value stands.
func (f *Flag) assign(text, origin string) error {
	f.origin = origin
	return of(origin, f.parse(text))
}

// Origin says where the value of a flag stands: --name, the variable, or what the command's
// [Resolver] says. It is "" for a default and for a flag that does not exist.
func (c *Command) Origin(name string) string {
	if f := c.flag("--" + name); f != nil {
		return f.origin
	}
	return ""
}

// of is the error of a value, beginning with where it stands.
func of(origin string, err error) error {
	var wanted *wantError
	switch {
	case errors.As(err, &wanted):
		return fmt.Errorf("%s %w", origin, err)
	case err != nil:
		return fmt.Errorf("%s: %w", origin, err)
	}
	return nil
}

// arguments sets the arguments of the command.
func (c *Command) arguments(app *App, given []string) error {
	for i, a := range c.Args {
		if i >= len(given) {
			if a.Required {
				return fmt.Errorf("missing argument <%s>: see %s", a.Name, app.helpOf(c))
			}
			break
		}
		a.given = true
		if err := of("<"+a.Name+">", a.parse(given[i])); err != nil {
			return err
		}
	}
	if len(given) > len(c.Args) {
		return fmt.Errorf("unexpected argument %s: see %s", given[len(c.Args)], app.helpOf(c))
	}
	return nil
}

// complete sets the flags that the command line has not: by variables, by the command's
// resolver, and to their defaults.
func (c *Command) complete() error {
	for _, f := range c.Flags {
		if text, ok := os.LookupEnv(f.Env); ok && !f.set && !c.given(f.Unless) {
			if err := f.assign(text, f.Env); err != nil {
				return err
			}
		}
	}
	var missing []string
	resolved, err := c.resolve()
	if err != nil {
		return err
	}
	for _, f := range c.Flags {
		setting, resolved := resolved[f.Name]
		var err error
		switch {
		case f.set:
		case resolved:
			err = f.assign(setting.Text, cmp.Or(setting.Origin, "--"+f.Name))
		case f.Default != "":
			err = of("--"+f.Name, f.parse(f.Default))
		case f.Required:
			missing = append(missing, "--"+f.Name+"="+f.placeholder())
		}
		if err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("missing flags: %s", strings.Join(missing, ", "))
	}
	return nil
}

// given reports whether the command line has one of some flags and arguments.
func (c *Command) given(names string) bool {
	for name := range strings.SplitSeq(names, ",") {
		if f := c.flag("--" + name); f != nil && f.given {
			return true
		}
		if slices.ContainsFunc(c.Args, func(a *Value) bool { return a.Name == name && a.given }) {
			return true
		}
	}
	return false
}

// resolve asks the command for values.
func (c *Command) resolve() (map[string]Setting, error) {
	r, ok := c.target.(Resolver)
	if !ok {
		return nil, nil
	}
	return r.Resolve(func(name string) bool { return c.given(name) })
}

// Run runs the command: its method Run, which may take the program.
func (c *Command) Run(a *App) error {
	if r, ok := c.target.(interface{ Run(*App) error }); ok {
		return r.Run(a)
	}
	return c.target.(interface{ Run() error }).Run()
}
