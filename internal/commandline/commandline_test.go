package commandline

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// commands is a program of three commands.
type commands struct {
	Serve serve `cmd:"" default:"withargs" help:"Run it."`
	Copy  struct {
		From string `arg:"" help:"Source."`
		To   string `arg:"" optional:"" help:"Target."`
		Out  string `required:"" aliases:"output" help:"Report."`
	} `cmd:"" help:"Copy it."`
	Show show `cmd:"" help:"Show it."`
}

type serve struct {
	Port    int           `group:"Network" short:"p" range:"0,65535" default:"27017" help:"Port."`
	Hosts   []string      `group:"Network" default:"a,b" help:"Hosts."`
	Raw     []string      `name:"setParameter" sep:"none" help:"Parameters."`
	Quiet   bool          `help:"Say little."`
	Ratio   float64       `range:"0," default:"1" help:"Ratio."`
	Wait    time.Duration `default:"2s" help:"Wait."`
	Mode    string        `enum:"on,off" default:"on" help:"Mode."`
	Key     string        `name:"keyFile" type:"existingfile" help:"Key."`
	Dir     string        `type:"existingdir" help:"Directory."`
	Secret  string        `name:"tlsCAFile" hidden:"" help:"Hidden."`
	Private string        `env:"-" help:"Without a variable."`
	URI     string        `name:"uri" unless:"port,word" help:"Where."`
	TLS     struct {
		Cert string `help:"Certificate."`
	} `embed:"" group:"TLS"`
	Extra any    `embed:""`
	Word  string `arg:"" optional:"" help:"A word."`

	file map[string]string
	ran  bool
}

func (s *serve) Resolve(given func(string) bool) (map[string]Setting, error) {
	if given("private") {
		return nil, errors.New("no file")
	}
	settings := map[string]Setting{}
	for flag, text := range s.file {
		settings[flag] = Setting{Text: text, Origin: "the " + flag + " of the file"}
	}
	return settings, nil
}

func (s *serve) Run() error { s.ran = true; return nil }

type show struct{ of string }

func (s *show) Run(a *App) error { s.of = a.Name; return nil }

// extra has pointers: nil is not given.
type extra struct {
	Number *int64   `env:"-"`
	Switch *bool    `env:"-"`
	Words  []string `env:"-"`
}

// parse parses the words of a line.
func parse(line string, file map[string]string) (*commands, *extra, string, error) {
	var c commands
	var e extra
	c.Serve.Extra, c.Serve.file = &e, file
	a := New(&c, App{Name: "it", Help: "Does it.", Version: "1\n"}, "IT")
	command, text, err := a.Parse(strings.Fields(line))
	if err == nil && command.Name != "copy" {
		err = command.Run(a)
	}
	return &c, &e, text, err
}

func TestParse(t *testing.T) {
	t.Setenv("IT_MODE", "off")
	t.Setenv("IT_TLS_CA_FILE", "ca")
	t.Setenv("IT_PRIVATE", "no")
	c, e, _, err := parse("--port=0x10 word --hosts c,d --hosts e --setParameter a=1,2 --quiet --wait 1m --number -3 --switch", map[string]string{"ratio": "0.5", "cert": "c.pem", "port": "1"})
	s := c.Serve
	if err != nil || !s.ran || s.Port != 16 || s.Word != "word" || !slices.Equal(s.Hosts, []string{"c", "d", "e"}) || !slices.Equal(s.Raw, []string{"a=1,2"}) ||
		!s.Quiet || s.Wait != time.Minute || s.Mode != "off" || s.Secret != "ca" || s.Private != "" || s.Ratio != 0.5 || s.TLS.Cert != "c.pem" {
		t.Errorf("%+v, %v", s, err)
	}
	if e.Number == nil || *e.Number != -3 || e.Switch == nil || !*e.Switch || e.Words != nil {
		t.Errorf("%+v", e)
	}
	c, _, _, err = parse("serve -p7 --quiet=false", nil)
	if s := c.Serve; err != nil || s.Port != 7 || s.Quiet || !slices.Equal(s.Hosts, []string{"a", "b"}) || s.Ratio != 1 || s.Wait != 2*time.Second {
		t.Errorf("%+v, %v", s, err)
	}
	c, _, _, err = parse("copy --output r -- -from", nil)
	if err != nil || c.Copy.From != "-from" || c.Copy.Out != "r" || c.Serve.ran {
		t.Errorf("%+v, %v", c.Copy, err)
	}
	c, _, _, err = parse("show", nil)
	if err != nil || c.Show.of != "it" {
		t.Errorf("%+v, %v", c.Show, err)
	}
}

// A variable gives way to what the command line has in its place, and every value but a default
// has a place.
func TestOrigins(t *testing.T) {
	t.Setenv("IT_URI", "u")
	for line, want := range map[string]string{"": "IT_URI", "--quiet": "IT_URI", "--port 1": "", "word": "", "--port 1 --uri x": "--uri"} {
		var c commands
		c.Serve.file = map[string]string{"ratio": "0.5"}
		command, _, err := New(&c, App{Name: "it"}, "IT").Parse(strings.Fields(line))
		if err != nil || command.Origin("uri") != want || (c.Serve.URI != "") != (want != "") {
			t.Errorf("%s: %v, %q from %q", line, err, c.Serve.URI, command.Origin("uri"))
		}
		if got := command.Origin("ratio") + command.Origin("wait") + command.Origin("nosuch"); got != "the ratio of the file" {
			t.Errorf("%s: %q", line, got)
		}
	}
}

func TestPaths(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	if err := os.WriteFile(filepath.Join(dir, "key"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, _, err := parse("--keyFile ~/key --dir "+dir, nil)
	if err != nil || c.Serve.Key != filepath.Join(dir, "key") || c.Serve.Dir != dir {
		t.Errorf("%+v, %v", c.Serve, err)
	}
	for _, line := range []string{"--keyFile " + dir, "--dir ~/key", "--dir ~/nothing"} {
		if _, _, _, err := parse(line, nil); err == nil {
			t.Errorf("%s is accepted", line)
		}
	}
}

func TestErrors(t *testing.T) {
	for line, want := range map[string]string{
		"--prot 1":         `unknown flag --prot, did you mean "--port"?`,
		"--q":              "unknown flag --q, did you mean \"--quiet\"?",
		"-x":               `unknown flag -x: "it serve --help" lists the flags`,
		"-quiet":           `unknown flag -quiet, did you mean "--quiet"?`,
		"--port":           "--port needs a value",
		"--port x":         `--port must be a whole number but got "x"`,
		"--port 65536":     `--port must be from 0 to 65535 but got "65536"`,
		"--port -1":        `--port must be from 0 to 65535 but got "-1"`,
		"--ratio x":        `--ratio must be a number but got "x"`,
		"--ratio -1":       `--ratio must be at least 0 but got "-1"`,
		"--ratio NaN":      `--ratio must be at least 0 but got "NaN"`,
		"--wait 1":         `--wait must be a duration such as 500ms, 10s or 1h but got "1"`,
		"--wait -1s":       `--wait must be a duration such as 500ms, 10s or 1h but got "-1s"`,
		"--quiet=maybe":    `--quiet must be true, 1, yes, false, 0 or no but got "maybe"`,
		"--keyFile .":      "--keyFile must be a file but . is a directory",
		"--dir doc.go":     "--dir must be a directory but doc.go is a file",
		"--mode x":         `--mode must be one of "on","off" but got "x"`,
		"a b":              "unexpected argument b",
		"copy":             `missing argument <from>: see "it copy --help"`,
		"copy a":           "missing flags: --out=STRING",
		"--private p":      "no file",
		"--tlsCAFilee x":   `unknown flag --tlsCAFilee: "it serve --help" lists the flags`,
		"--hosts a copy x": "unexpected argument x",
	} {
		if _, _, _, err := parse(line, nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
	// A value that is not on the command line is called by the name of its place.
	if _, _, _, err := parse("", map[string]string{"port": "x"}); err == nil || err.Error() != `the port of the file must be a whole number but got "x"` {
		t.Errorf("the resolver: %v", err)
	}
	t.Setenv("IT_RATIO", "x")
	if _, _, _, err := parse("", nil); err == nil || err.Error() != `IT_RATIO must be a number but got "x"` {
		t.Errorf("the variable: %v", err)
	}
}

func TestHelp(t *testing.T) {
	for line, parts := range map[string][]string{
		"--help":        {"Usage: it <command> [flags]\n\nDoes it.\n", "  serve [<word>] [flags]\n    Run it.\n", "  copy --out=STRING <from> [<to>] [flags]\n"},
		"--port 1 -h":   {"Usage: it serve [<word>] [flags]\n", "Arguments:\n  [<word>]    A word.\n", "\nNetwork\n  -p, --port=27017", "Port ($IT_PORT).", `--mode="on"`, "--hosts=a,b,...", "--setParameter=SETPARAMETER", "\nTLS\n"},
		"copy --help":   {"Usage: it copy --out=STRING <from> [<to>] [flags]\n"},
		"a b --version": {"1\n"},
	} {
		_, _, text, err := parse(line, nil)
		if !errors.Is(err, ErrHelp) || strings.Contains(text, "Hidden") {
			t.Errorf("%s: %v", line, err)
		}
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%s has no %q:\n%s", line, part, text)
			}
		}
		for l := range strings.Lines(text) {
			if len(l) > 81 {
				t.Errorf("%s: a line of %d characters: %s", line, len(l), l)
			}
		}
	}
}

func TestVariableNames(t *testing.T) {
	for name, want := range map[string]string{
		"port": "PORT", "bind_ip": "BIND_IP", "test-clock": "TEST_CLOCK", "storageURI": "STORAGE_URI", "tlsCAFile": "TLS_CA_FILE", "maxConns": "MAX_CONNS",
	} {
		if got := variable(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := FlagNames(&serve{}); !slices.Contains(got, "cert") || slices.Contains(got, "number") || len(got) != 13 {
		t.Errorf("%q", got)
	}
}
