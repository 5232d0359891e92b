package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/needs"
)

// model is the commands of the command line.
func model(t *testing.T) []verb {
	t.Helper()
	return verbsOf(describe(&cli{}))
}

func script(t *testing.T, shell string) string {
	t.Helper()
	var b bytes.Buffer
	if err := completion(&b, shell, model(t)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Every flag of every command is in every script and in the manual.
func TestAllFlagsAreThere(t *testing.T) {
	var man bytes.Buffer
	if err := manual(&man, "A server.", model(t)); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"man": strings.ReplaceAll(man.String(), `\-`, "-"), "bash": script(t, "bash"), "zsh": script(t, "zsh"), "fish": script(t, "fish")}
	for _, v := range model(t) {
		for _, f := range v.flags {
			for name, text := range texts {
				flag := "--" + f.Name
				if name == "fish" {
					flag = "-l " + f.Name
				}
				if !strings.Contains(text, flag) || !strings.Contains(text, v.name) {
					t.Errorf("%s lacks %s of %s", name, flag, v.name)
				}
			}
		}
	}
}

// The shells themselves read their scripts.
func TestScriptsParse(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			needs.Program(t, shell)
			cmd := exec.Command(shell, "-n")
			cmd.Stdin = strings.NewReader(script(t, shell))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// completers complete a line as a shell with its script does: they return the completed
// last word, or nothing. The files that they write to the directory are used for the next
// line.
var completers = map[string]func(t *testing.T, dir, line string) string{
	"bash": func(t *testing.T, _, line string) string {
		words := strings.ReplaceAll(line, "=", " = ")
		return shell(t, script(t, "bash")+"\nCOMP_WORDS=("+words+"); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _duskdb; echo \"${COMPREPLY[*]}\"", "bash")
	},
	"fish": func(t *testing.T, _, line string) string {
		word, _, _ := strings.Cut(shell(t, script(t, "fish")+"\ncomplete -C "+quoted(line), "fish", "--no-config"), "\t")
		return word
	},
	"zsh": func(t *testing.T, dir, line string) string {
		if err := os.WriteFile(filepath.Join(dir, "_duskdb"), []byte(script(t, "zsh")), 0o600); err != nil {
			t.Fatal(err)
		}
		typed := shell(t, zshTyping, "zsh", "-f", "-s", dir, line)
		return strings.TrimSuffix(strings.TrimSpace(strings.TrimPrefix(typed, line[:strings.LastIndex(line, " ")+1])), "=")
	},
}

// zshTyping types a line and a tab into a terminal in which zsh runs, and prints the
// completed line.
const zshTyping = `
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PS1= TERM=dumb; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -d $1/dump"
zpty -w z 'line() { print -r -- "<<$BUFFER>>" }; zle -N line; bindkey "^X" line; bindkey "^I" complete-word; print REA""DY'
zpty -r z seen '*READY*'
zpty -w -n z "$2"$'\t\x18'
zpty -r z seen '*<<*>>*'
seen=${seen##*<<}
print -r -- ${seen%%>>*}
`

// shell runs a program of a shell.
func shell(t *testing.T, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	cmd.Stdin = strings.NewReader(program)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestShellsComplete(t *testing.T) {
	tests := []struct{ line, want string }{
		{"duskdb pi", "ping"},
		{"duskdb --bind_ip_", "--bind_ip_all"},
		{"duskdb --tlsMode req", "requireTLS"},
		{"duskdb --tlsMode=req", "requireTLS"},
		{"duskdb import --upsertF", "--upsertFields"},
		{"duskdb import --mode mer", "merge"},
		{"duskdb completion f", "fish"},
		{"duskdb export --dbpa", ""},
	}
	for name, complete := range completers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			needs.Program(t, name)
			dir := t.TempDir()
			for _, tt := range tests {
				got := strings.TrimPrefix(complete(t, dir, tt.line), "--tlsMode=")
				if got == "--dbpa" { // zsh leaves what it cannot complete
					got = ""
				}
				if got != tt.want {
					t.Errorf("%s: %q, want %q", tt.line, got, tt.want)
				}
			}
		})
	}
}

func TestManual(t *testing.T) {
	var b bytes.Buffer
	if err := manual(&b, "A server.", model(t)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{".TH DUSKDB 1", "\n.SS duskdb import\n", `\fB\-\-bind_ip\fR=`, "($DUSKDB_BIND_IP)"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the manual lacks %q", want)
		}
	}
	needs.Program(t, "groff")
	cmd := exec.Command("groff", "-man", "-ww", "-Tutf8", "-z")
	cmd.Stdin = &b
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestCommandsRun(t *testing.T) {
	for _, args := range [][]string{{"man"}, {"completion", "zsh"}} {
		if code := run(args); code != 0 {
			t.Errorf("%v exits with %d", args, code)
		}
	}
}
