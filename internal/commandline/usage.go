package commandline

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"
)

// maxLeft is the width of the column of flags and arguments; longer ones have a line for themselves.
const maxLeft = 28

// usage is the help text of the program.
func (a *App) usage() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s <command> [flags]\n\n%s\n\nFlags:\n", a.Name, wrap(a.Help, 0))
	columns(&b, rowsOf(globals))
	b.WriteString("\nCommands:\n")
	for _, c := range a.Commands {
		fmt.Fprintf(&b, "  %s\n    %s\n\n", c.synopsis(), wrap(c.Help, 4))
	}
	fmt.Fprintf(&b, "Run \"%s <command> --help\" for more information on a command.\n", a.Name)
	return b.String()
}

// usageOf is the help text of a command.
func (a *App) usageOf(c *Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s %s\n\n%s\n", a.Name, c.synopsis(), wrap(c.Help, 0))
	if len(c.Args) > 0 {
		b.WriteString("\nArguments:\n")
		var rows [][2]string
		for _, arg := range c.Args {
			rows = append(rows, [2]string{arg.synopsis(), arg.Help})
		}
		columns(&b, rows)
	}
	b.WriteString("\nFlags:\n")
	columns(&b, rowsOf(globals))
	groups := []string{""} // the flags without a group come first
	flags := map[string][]*Flag{}
	for _, f := range c.VisibleFlags()[len(globals):] {
		if !slices.Contains(groups, f.Group) {
			groups = append(groups, f.Group)
		}
		flags[f.Group] = append(flags[f.Group], f)
	}
	for _, group := range groups {
		if len(flags[group]) == 0 {
			continue
		}
		b.WriteString("\n")
		if group != "" {
			fmt.Fprintln(&b, group)
		}
		columns(&b, rowsOf(flags[group]))
	}
	return b.String()
}

// synopsis is the command with its arguments and the flags that it needs.
func (c *Command) synopsis() string {
	s := c.Name
	for _, f := range c.Flags {
		if f.Required {
			s += " --" + f.Name + "=" + f.placeholder()
		}
	}
	for _, arg := range c.Args {
		s += " " + arg.synopsis()
	}
	return s + " [flags]"
}

func (v *Value) synopsis() string {
	if v.Required {
		return "<" + v.Name + ">"
	}
	return "[<" + v.Name + ">]"
}

func (f *Flag) synopsis() string {
	s := "    --" + f.Name
	if f.Short != "" {
		s = "-" + f.Short + ", --" + f.Name
	}
	if !f.IsBool() {
		s += "=" + f.placeholder()
	}
	return s
}

// placeholder stands for the value of a flag: its default, or its kind.
func (f *Flag) placeholder() string {
	kind := f.target.Kind().String()
	switch {
	case f.isList() && f.sep == "none":
		return strings.ToUpper(f.Name)
	case f.isList():
		return cmp.Or(f.Default, strings.ToUpper(f.Name)) + ",..."
	case f.Default != "" && kind == "string":
		return `"` + f.Default + `"`
	}
	return cmp.Or(f.Default, strings.ToUpper(kind))
}

// help is the text of a flag, with its variable.
func (f *Flag) help() string {
	if f.Env == "" {
		return f.Help
	}
	text, dot := strings.CutSuffix(f.Help, ".")
	text += " ($" + f.Env + ")"
	if dot {
		text += "."
	}
	return text
}

// rowsOf are the two columns of flags.
func rowsOf(flags []*Flag) (rows [][2]string) {
	for _, f := range flags {
		rows = append(rows, [2]string{f.synopsis(), f.help()})
	}
	return rows
}

// columns writes rows of two columns.
func columns(b *strings.Builder, rows [][2]string) {
	left := 0
	for _, r := range rows {
		if len(r[0]) <= maxLeft {
			left = max(left, len(r[0]))
		}
	}
	for _, r := range rows {
		text := wrap(r[1], left+6)
		if len(r[0]) > left {
			fmt.Fprintf(b, "  %s\n%*s%s\n", r[0], left+6, "", text)
			continue
		}
		fmt.Fprintf(b, "  %-*s    %s\n", left, r[0], text)
	}
}

// wrap breaks a text into lines that are indented, but for the first.
func wrap(text string, indent int) string {
	width := 80
	if w, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && w > 0 {
		width = w
	}
	var b strings.Builder
	at := indent
	for i, word := range strings.Fields(text) {
		switch {
		case i > 0 && at+1+len(word) > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		case i > 0:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	return b.String()
}
