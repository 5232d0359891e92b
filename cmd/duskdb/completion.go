package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/duskdb/duskdb/internal/commandline"
)

// completionCmd prints a script that completes the command line in a shell. It
// is made of the definitions of the flags, as the manual page is.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script.
func (c *completionCmd) Run(app *commandline.App) error {
	return completion(os.Stdout, c.Shell, verbsOf(app))
}

// completion writes the script for a shell.
func completion(w io.Writer, shell string, verbs []verb) error {
	write := map[string]func(io.Writer, []verb) error{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[shell]
	return write(w, verbs)
}

// verb is a command with its flags.
type verb struct {
	name, help string
	implied    bool // the command if none is named
	flags      []*commandline.Flag
	args       []*commandline.Value
}

// verbsOf lists the commands.
func verbsOf(app *commandline.App) []verb {
	var out []verb
	for _, c := range app.Commands {
		out = append(out, verb{name: c.Name, help: c.Help, implied: c.Default, args: c.Args, flags: c.VisibleFlags()})
	}
	return out
}

// implied returns the default command.
func implied(verbs []verb) string {
	for _, v := range verbs {
		if v.implied {
			return v.name
		}
	}
	return ""
}

func names(verbs []verb) string {
	var out []string
	for _, v := range verbs {
		out = append(out, v.name)
	}
	return strings.Join(out, " ")
}

// enum returns the values of a flag or argument, separated by spaces.
func enum(v *commandline.Value) string { return strings.Join(strings.Split(v.Enum, ","), " ") }

func (v *verb) flagNames() string {
	var out []string
	for _, f := range v.flags {
		out = append(out, "--"+f.Name)
	}
	return strings.Join(out, " ")
}

// bashCompletion writes the completion script for bash.
func bashCompletion(w io.Writer, verbs []verb) error {
	var choices, flags, args strings.Builder
	for _, v := range verbs {
		fmt.Fprintf(&flags, "        %s) words=%q ;;\n", v.name, v.flagNames())
		for _, f := range v.flags {
			if f.Enum != "" {
				fmt.Fprintf(&choices, "        \"%s --%s\") words=%q ;;\n", v.name, f.Name, enum(&f.Value))
			}
		}
		for _, a := range v.args {
			if a.Enum != "" {
				fmt.Fprintf(&args, "        %s) words=%q ;;\n", v.name, enum(a))
			}
		}
	}
	_, err := fmt.Fprintf(w, `# Completion of duskdb for bash: source <(duskdb completion bash)
_duskdb() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd= word words=
    COMPREPLY=()
    # --flag=value comes as three words.
    if [[ $cur == = ]]; then cur=
    elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case " %[1]s " in *" $word "*) cmd=$word; break ;; esac
    done
    case "${cmd:-%[2]s} $prev" in
%[3]s    esac
    if [[ -z $words && $cur == -* ]]; then
        case ${cmd:-%[2]s} in
%[4]s        esac
    elif [[ -z $words && -n $cmd ]]; then
        case $cmd in
%[5]s        esac
    elif [[ -z $words && $prev != -* ]]; then
        words="%[1]s"
    fi
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _duskdb duskdb
`, names(verbs), implied(verbs), choices.String(), flags.String(), args.String())
	return err
}

// zshCompletion writes the completion script for zsh.
func zshCompletion(w io.Writer, verbs []verb) error {
	var list, cases strings.Builder
	for _, v := range verbs {
		fmt.Fprintf(&list, "        %s\n", quoted(v.name+":"+strings.ReplaceAll(v.help, ":", `\:`)))
		fmt.Fprintf(&cases, "        %s) _arguments", v.name)
		for _, f := range v.flags {
			fmt.Fprintf(&cases, " \\\n            %s", quoted(zshFlag(f)))
		}
		for _, a := range v.args {
			action := "_files"
			if a.Enum != "" {
				action = "(" + enum(a) + ")"
			}
			fmt.Fprintf(&cases, " \\\n            %s", quoted("::"+a.Name+":"+action))
		}
		cases.WriteString(" ;;\n")
	}
	_, err := fmt.Fprintf(w, `#compdef duskdb
# Completion of duskdb for zsh: put it as _duskdb into a directory of $fpath.
_duskdb() {
    local -a commands
    commands=(
%s    )
    if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
        _describe command commands
        return
    fi
    local cmd=%s
    if [[ $words[2] != -* ]]; then
        cmd=$words[2]
        shift words
        (( CURRENT-- ))
    fi
    case $cmd in
%s    esac
}
if [[ $funcstack[1] == _duskdb ]]; then _duskdb "$@"; else compdef _duskdb duskdb; fi
`, list.String(), implied(verbs), cases.String())
	return err
}

// zshFlag describes a flag in the form of _arguments.
func zshFlag(f *commandline.Flag) string {
	help := strings.NewReplacer("[", "(", "]", ")", ":", `\:`).Replace(f.Help)
	switch {
	case f.IsBool():
		return fmt.Sprintf("--%s[%s]", f.Name, help)
	case f.Enum != "":
		return fmt.Sprintf("--%s=[%s]:%s:(%s)", f.Name, help, f.Name, enum(&f.Value))
	}
	return fmt.Sprintf("--%s=[%s]:%s:_files", f.Name, help, f.Name)
}

// fishCompletion writes the completion script for fish.
func fishCompletion(w io.Writer, verbs []verb) error {
	var b strings.Builder
	b.WriteString("# Completion of duskdb for fish: duskdb completion fish | source\n")
	for _, v := range verbs {
		fmt.Fprintf(&b, "complete -c duskdb -n __fish_use_subcommand -f -a %s -d %s\n", v.name, quoted(v.help))
		when := "__fish_seen_subcommand_from " + v.name
		if v.implied {
			when = "__fish_use_subcommand; or " + when
		}
		for _, f := range v.flags {
			fmt.Fprintf(&b, "complete -c duskdb -n %s -l %s", quoted(when), f.Name)
			if f.Short != "" {
				fmt.Fprintf(&b, " -s %s", f.Short)
			}
			if f.Enum != "" {
				fmt.Fprintf(&b, " -x -a %s", quoted(enum(&f.Value)))
			} else if !f.IsBool() {
				b.WriteString(" -r")
			}
			fmt.Fprintf(&b, " -d %s\n", quoted(f.Help))
		}
		for _, a := range v.args {
			if a.Enum != "" {
				fmt.Fprintf(&b, "complete -c duskdb -n %s -f -a %s\n", quoted(when), quoted(enum(a)))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// quoted quotes a word for all three shells. Their rules for ' within quotes
// differ, so it is replaced.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "’") + "'" }
