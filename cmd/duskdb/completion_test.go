package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// model is the commands of the command line.
func model(t *testing.T) []verb {
	t.Helper()
	parser, err := kong.New(&cli{}, kong.Name("duskdb"), kong.DefaultEnvars("DUSKDB"))
	if err != nil {
		t.Fatal(err)
	}
	return verbsOf(parser.Model.Node)
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
			if _, err := exec.LookPath(shell); err != nil {
				t.Skip(err)
			}
			cmd := exec.Command(shell, "-n")
			cmd.Stdin = strings.NewReader(script(t, shell))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func TestBashCompletes(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	tests := []struct{ line, want string }{
		{"duskdb pi", "ping"},
		{"duskdb --bind_ip_", "--bind_ip_all"},
		{"duskdb --tlsMode req", "requireTLS"},
		{"duskdb --tlsMode = req", "requireTLS"},
		{"duskdb import --upsertF", "--upsertFields"},
		{"duskdb import --mode mer", "merge"},
		{"duskdb completion f", "fish"},
		{"duskdb export --dbpa", ""},
	}
	for _, tt := range tests {
		words := strings.Fields(tt.line)
		prog := script(t, "bash") + "\nCOMP_WORDS=(" + strings.Join(words, " ") + "); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _duskdb; echo \"${COMPREPLY[*]}\""
		out, err := exec.Command("bash", "-c", prog).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != tt.want {
			t.Errorf("%s: %q, %v; want %q", tt.line, got, err, tt.want)
		}
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
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip(err)
	}
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
