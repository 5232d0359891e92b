package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/youmark/pkcs8"

	"github.com/duskdb/duskdb/internal/freeport"
	"github.com/duskdb/duskdb/internal/proc"
)

// messagesFile has command lines with what they print to standard error, and how they exit.
// "go test ./cmd/duskdb -run TestMessages -update" writes it anew.
const messagesFile = "testdata/messages"

// jargon are words of Go, of its library and of system calls, which say nothing to somebody who
// runs a server.
var jargon = regexp.MustCompile(`(?i)\b(dial|listen) (tcp|udp|unix)|\b(bind|connect|getsockopt|x509|asn1|pkcs8|exec|time|bson|gzip|flate): ` +
	`|\b(tls|json|yaml): (failed|private|found|first|unknown|bad|cannot|invalid)|yaml: line|strconv|context (deadline|canceled)|i/o timeout|\bEOF\b` +
	`|\b(open|stat|lstat|mkdir|read|write|readdirent|fdopendir) [^ ]+: |parsing (time|")|parse "|cannot parse|invalid syntax` +
	`|goroutine|panic|nil pointer|<nil>|%!|net/|\[\]|64 bit int|float|bool value`)

// message is one case of the table.
type message struct {
	line   string   // the command line, behind variables
	config []string // lines of the file c.conf
	result []string // the exit code, and the standard error without the log
}

func (m *message) String() string {
	text := "$ " + m.line + "\n"
	for _, line := range m.config {
		text += "| " + line + "\n"
	}
	return text + strings.Join(m.result, "\n") + "\n"
}

// readMessages reads the table: a heading, cases, an empty line before each.
func readMessages(t *testing.T) (heading string, cases []*message) {
	t.Helper()
	text, err := os.ReadFile(messagesFile)
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(strings.TrimSpace(string(text)), "\n\n")
	for _, block := range blocks[1:] {
		m := &message{}
		for _, line := range strings.Split(block, "\n") {
			if rest, ok := strings.CutPrefix(line, "$ "); ok {
				m.line = rest
			} else if rest, ok := strings.CutPrefix(line, "| "); ok {
				m.config = append(m.config, rest)
			} else {
				m.result = append(m.result, line)
			}
		}
		cases = append(cases, m)
	}
	return blocks[0], cases
}

// TestMessages runs the command lines of the table with the real program: what a user can get
// wrong at the start is said in a sentence, once, without jargon, and a wrong option exits with 2.
func TestMessages(t *testing.T) {
	heading, cases := readMessages(t)
	stage := newStage(t)
	var wait sync.WaitGroup
	turns := make(chan struct{}, 4)
	for i, m := range cases {
		wait.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			got := stage.run(t, i, m)
			switch {
			case *updateDocs:
				m.result = got
			case strings.Join(got, "\n") != strings.Join(m.result, "\n"):
				t.Errorf("%sbut got\n%s", m, strings.Join(got, "\n"))
			}
		})
	}
	wait.Wait()
	if *updateDocs {
		text := heading + "\n"
		for _, m := range cases {
			text += "\n" + m.String()
		}
		if err := os.WriteFile(messagesFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The table has no message with jargon, and none that says the same address twice.
func TestMessagesArePlain(t *testing.T) {
	_, cases := readMessages(t)
	address := regexp.MustCompile(`\d+\.\d+\.\d+\.\d+:\w+`)
	for _, m := range cases {
		for _, line := range m.result[1:] {
			if word := jargon.FindString(line); word != "" {
				t.Errorf("%s: %q in %s", m.line, word, line)
			}
			seen := map[string]bool{}
			for _, found := range address.FindAllString(line, -1) {
				if seen[found] {
					t.Errorf("%s: %s twice in %s", m.line, found, line)
				}
				seen[found] = true
			}
		}
	}
}

// Every flag with a number, a duration, a choice or a truth value refuses another text, and says
// so by its name.
func TestEveryFlagRefuses(t *testing.T) {
	for _, command := range describe(&cli{}).Commands {
		for _, f := range command.Flags {
			var c cli
			_, _, err := describe(&c).Parse([]string{command.Name, "--" + f.Name + "=no such value"})
			if err == nil || strings.HasPrefix(err.Error(), "missing ") { // a text
				continue
			}
			if !strings.HasPrefix(err.Error(), "--"+f.Name+" must be ") && !strings.Contains(err.Error(), "no such file") {
				t.Errorf("%s --%s: %v", command.Name, f.Name, err)
			}
		}
	}
}

// While the database does not answer, the log says so in plain words.
func TestUnreachableDatabase(t *testing.T) {
	for host, want := range map[string]string{
		"127.0.0.1:" + strconv.Itoa(freeport.For(t)): "no server answers at 127.0.0.1:",
		"no-such-host.invalid":                       "the host name no-such-host.invalid",
	} {
		cmd := exec.Command(built(t), "--storageEngine", "postgres", "--storageURI", "postgres://u:secret@"+host+"/x", "--port", "0", "--quiet")
		out, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		text := make([]byte, 4096)
		n, err := out.Read(text)
		_, _ = cmd.Process.Kill(), cmd.Wait()
		line := string(text[:n])
		if err != nil || !strings.Contains(line, "waiting for the database: "+want) || jargon.MatchString(line) || strings.Contains(line, "secret") {
			t.Errorf("%s: %v, %s", host, err, line)
		}
	}
}

// stage is a directory with files, and servers, for the table.
type stage struct {
	binary, dir string
	names       *strings.Replacer // what stands for ports and for flags
	back        *strings.Replacer
}

// quick are the flags of a server that would end at once.
const quick = "--dbpath :memory: --port 0 --quiet --exit-with-stdin"

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{binary: built(t), dir: t.TempDir()}
	s.files(t)
	start := func(args ...string) string {
		cmd := exec.Command(s.binary, append(args, "--dbpath", ":memory:", "--port", "0", "--quiet")...)
		cmd.Env = append(os.Environ(), "DUSKDB_ROOT_USERNAME=root", "DUSKDB_ROOT_PASSWORD=pw")
		_, port, err := net.SplitHostPort(proc.Start(t, cmd).Addr())
		if err != nil {
			t.Fatal(err)
		}
		return port
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the system accepts connections, and nobody answers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	ports := map[string]string{
		"SILENTPORT": strconv.Itoa(silent.Addr().(*net.TCPAddr).Port),
		"OPENPORT":   start("--noauth"), "LOGINPORT": start(), "FREEPORT": strconv.Itoa(freeport.For(t)),
		"TLSPORT": start("--noauth", "--tlsMode", "requireTLS", "--tlsCertificateKeyFile", filepath.Join(s.dir, "both.pem")),
	}
	forth, back := []string{"QUICK", quick}, []string{}
	for name, port := range ports {
		forth = append(forth, name, port)
		back = append(back, port, name)
	}
	s.names, s.back = strings.NewReplacer(forth...), strings.NewReplacer(append(back, s.dir, "DIR")...)
	return s
}

// files makes the files that the table names.
func (s *stage) files(t *testing.T) {
	t.Helper()
	cert, key, encrypted := pair(t)
	_, other, _ := pair(t)
	files := map[string]string{
		"text": "text", "dir/x": "", "cert.pem": cert, "key.pem": key, "both.pem": cert + key, "mixed.pem": cert + other,
		"encrypted.pem": cert + encrypted, "shortkey": "abc", "openkey": "secretsecret", "broken.json": `{"a": `, "word.json": `{a: }`,
		"quote.csv": "a,b\n1,\"x\n", "cut.bson": "\x05\x00", "cut.json.gz": "\x1f\x8b\x08cut",
		"secret": "secret", "cut/duskdb.copying": "restore\n", "halved/duskdb.copying": "copy\n",
	}
	for _, dir := range []string{"dir", "empty", "locked", "fixed", "cut", "halved"} {
		if err := os.Mkdir(filepath.Join(s.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	modes := map[string]os.FileMode{"openkey": 0o644, "secret": 0, "locked": 0, "fixed": 0o555}
	if os.Geteuid() == 0 { // the other user must reach the program and the files
		for _, path := range []string{s.dir, s.binary} {
			for ; path != filepath.Clean(os.TempDir()); path = filepath.Dir(path) {
				modes[path] = 0o755
			}
		}
	}
	for name, mode := range modes {
		path := name
		if !filepath.IsAbs(name) {
			path = filepath.Join(s.dir, name)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { // or the directory cannot be removed
		_ = os.Chmod(filepath.Join(s.dir, "locked"), 0o700)
		_ = os.Chmod(filepath.Join(s.dir, "fixed"), 0o700)
	})
}

// pair makes a certificate for 127.0.0.1 and its key, plain and encrypted.
func pair(t *testing.T) (cert, key, encrypted string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	plainKey, kerr := x509.MarshalPKCS8PrivateKey(private)
	secretKey, serr := pkcs8.MarshalPrivateKey(private, []byte("right"), nil)
	if err := errors.Join(err, kerr, serr); err != nil {
		t.Fatal(err)
	}
	block := func(kind string, b []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}))
	}
	return block("CERTIFICATE", der), block("PRIVATE KEY", plainKey), block("ENCRYPTED PRIVATE KEY", secretKey)
}

// userID is the number of the program's user in a message.
var userID = regexp.MustCompile(`user \(\d+\)`)

// run runs a case, and returns the exit code and the lines that are not the log's.
func (s *stage) run(t *testing.T, i int, m *message) []string {
	words := strings.Fields(s.names.Replace(m.line))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.binary)
	cmd.Dir = s.dir
	cmd.Env = os.Environ()
	for len(words) > 0 && words[0] != "duskdb" {
		if words[0] == "unprivileged" {
			unprivileged(cmd)
		} else {
			cmd.Env = append(cmd.Env, words[0])
		}
		words = words[1:]
	}
	conf := fmt.Sprintf("%d.conf", i)
	for _, word := range words[1:] {
		cmd.Args = append(cmd.Args, strings.ReplaceAll(strings.ReplaceAll(word, "c.conf", conf), "''", ""))
	}
	if err := os.WriteFile(filepath.Join(s.dir, conf), []byte(strings.Join(m.config, "\n")+"\n"), 0o600); err != nil {
		t.Error(err)
	}
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Errorf("%s: %v", m.line, err)
	}
	got := []string{fmt.Sprintf("exit %d", cmd.ProcessState.ExitCode())}
	for line := range strings.Lines(complaints.String()) {
		if strings.HasPrefix(line, "{") {
			if word := jargon.FindString(regexp.MustCompile(`"time": ?"[^"]*"`).ReplaceAllString(line, "")); word != "" {
				t.Errorf("%s: %q in the log: %s", m.line, word, line)
			}
			continue
		}
		line = strings.ReplaceAll(s.back.Replace(strings.TrimSuffix(line, "\n")), conf, "c.conf")
		got = append(got, userID.ReplaceAllString(line, "user (N)"))
	}
	return got
}

// The first line of standard output has the connection string, wherever the log goes, and the
// address of the console is said whenever there is one.
func TestStandardOutput(t *testing.T) {
	binary := built(t)
	for _, tt := range []struct {
		flags string
		lines []string
	}{
		{"--port 0", []string{"duskdb listening on mongodb://127.0.0.1:PORT/?directConnection=true", "Waiting for connections"}},
		{"--port FREE --logpath FILE", []string{"duskdb listening on mongodb://127.0.0.1:PORT/?directConnection=true", "Waiting for connections"}},
		{"--port 0 --bind_ip 0.0.0.0 --consolePort FREE --logpath FILE", []string{
			"duskdb listening on mongodb://127.0.0.1:PORT/?directConnection=true", "Waiting for connections", "duskdb console on http://127.0.0.1:PORT/",
		}},
		{"--port 0 --test-clock", []string{
			"duskdb listening on mongodb://127.0.0.1:PORT/?directConnection=true", "Waiting for connections", "duskdb console on http://127.0.0.1:PORT/",
		}},
	} {
		flags := strings.NewReplacer("FREE", strconv.Itoa(freeport.For(t)), "FILE", filepath.Join(t.TempDir(), "log")).Replace(tt.flags)
		out, err := exec.CommandContext(t.Context(), binary, strings.Fields(flags+" --dbpath :memory: --quiet --exit-with-stdin")...).Output()
		got := regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(string(out), "127.0.0.1:PORT")
		if want := strings.Join(tt.lines, "\n") + "\n"; err != nil || got != want {
			t.Errorf("%s: %v\n%swant\n%s", tt.flags, err, got, want)
		}
	}
}
