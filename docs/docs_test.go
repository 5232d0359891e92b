// Package docs_test runs the code blocks of the documentation that are marked
// "runnable": what the pages say is tried word by word.
//
// A page has one server, whose URI is in DUSKDB_URI, and another, on which ann has the
// password secret, for blocks that are "runnable with logins". Blocks of sh run in bash,
// with duskdb on the PATH; what a command prints contains the text of "# → TEXT" behind it;
// the web console is at the address that console.md names. Blocks of js run in one mongosh; what a line
// evaluates to is compared with "// → JSON", or "// → error: TEXT", at its end.
package docs_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/freeport"
	"github.com/duskdb/duskdb/internal/needs"
	"github.com/duskdb/duskdb/server"
)

const limit = 2 * time.Minute

// runnable is a block: its language, whether there are logins, and its text.
var runnable = regexp.MustCompile("(?ms)^```(sh|js) runnable( with logins)?\n(.*?)^```$")

// consoleURL is the address of the web console on the pages.
const consoleURL = "http://127.0.0.1:43210/"

// cosmosPort is the port of Cosmos DB's connection strings on the pages.
const cosmosPort = "10255"

func TestPages(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages", err)
	}
	bin := t.TempDir()
	if err := needs.Server(filepath.Join(bin, "duskdb")); err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		blocks := map[string]string{}
		for _, m := range runnable.FindAllStringSubmatch(string(text), -1) {
			blocks[m[1]+m[2]] += m[3]
		}
		for _, kind := range []string{"sh", "js", "sh with logins"} {
			if blocks[kind] != "" {
				t.Run(filepath.Base(page)+"/"+kind, func(t *testing.T) { try(t, page, kind, blocks[kind], bin) })
			}
		}
	}
}

// try runs the blocks of one language against a server of their own, and those of the quick
// start twice.
func try(t *testing.T, page, kind, text, bin string) {
	var args []string
	language, logins, _ := strings.Cut(kind, " ")
	if language == "js" {
		needs.Client(t)
	}
	srv := startWith(t, logins != "")
	if language == "sh" {
		text = strings.ReplaceAll(shell(text), consoleURL, srv.ConsoleURL())
		text = strings.ReplaceAll(text, cosmosPort, fmt.Sprint(freeport.For(t)))
		args = []string{"bash", "-euo", "pipefail", "-c", text}
	} else {
		args = append(mongosh(t), "--file", script(t, text))
	}
	needs.Program(t, args[0])
	if language == "js" {
		args = append(args, srv.URI())
	}
	tryOnce(t, srv, bin, args)
	if page == "quickstart.md" {
		tryOnce(t, srv, bin, args)
	}
}

func tryOnce(t *testing.T, srv *server.Server, bin string, args []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "DUSKDB_URI="+srv.URI(), "HOME="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// start starts a server whose clock clients may move.
func start(t *testing.T) *server.Server {
	t.Helper()
	return startWith(t, false)
}

// startWith is start; with logins, ann has the password secret.
func startWith(t *testing.T, logins bool) *server.Server {
	t.Helper()
	config := server.Config{TestClock: true, Parameters: map[string]string{"enableTestCommands": "true"}, ConsolePort: -1, DBPath: filepath.Join(t.TempDir(), "data")}
	if logins {
		config.Auth, config.RootUser, config.RootPassword = true, "ann", "secret"
	}
	srv, err := server.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Close(context.Background()) })
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	return srv
}

// mongosh is the shell: that of the tests with real clients, which install
// it if it is not there yet, or one that is installed.
func mongosh(t *testing.T) []string {
	t.Helper()
	flags := []string{"--quiet", "--norc"}
	cached := filepath.Join(needs.Cache(t), "node-*", "node_modules", "mongosh", "bin", "mongosh.js")
	found, _ := filepath.Glob(cached)
	if len(found) == 0 {
		install := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-run=^TestInstallShell$", ".")
		install.Dir = "../compat_tests" // a module of its own
		_ = install.Run()
		found, _ = filepath.Glob(cached)
	}
	if len(found) > 0 {
		return append([]string{"node", found[0]}, flags...)
	}
	needs.Program(t, "mongosh")
	return append([]string{"mongosh"}, flags...)
}

const prelude = `function same(line, got, want) {
  const have = JSON.stringify(got);
  if (have !== want) throw new Error(line + ': got ' + have + ', the page says ' + want);
}
function fails(line, what, text) {
  try { what(); } catch (err) { if (String(err.message).includes(text)) return; throw err; }
  throw new Error(line + ': did not fail');
}
`

// shell turns the claims of blocks of sh into checks.
func shell(text string) string {
	var b, part strings.Builder
	for line := range strings.Lines(text) {
		want, claim := strings.CutPrefix(line, "# → ")
		if !claim {
			part.WriteString(line)
			continue
		}
		quoted := "'" + strings.ReplaceAll(strings.TrimSpace(want), "'", `'\''`) + "'"
		fmt.Fprintf(&b, "{ %s} > out\ncat out\ngrep -qF -- %s out || { echo the page says %s; exit 1; }\n", part.String(), quoted, quoted)
		part.Reset()
	}
	return b.String() + part.String()
}

// script writes the blocks with their claims turned into checks.
func script(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(prelude)
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		code, want, claim := strings.Cut(s.Text(), " // → ")
		line, _ := json.Marshal(code)
		if message, fails := strings.CutPrefix(want, "error:"); fails {
			quoted, _ := json.Marshal(strings.TrimSpace(message))
			fmt.Fprintf(&b, "fails(%s, () => %s, %s)\n", line, code, quoted)
		} else if claim {
			quoted, _ := json.Marshal(want)
			fmt.Fprintf(&b, "same(%s, %s, %s)\n", line, code, quoted)
		} else {
			b.WriteString(code + "\n")
		}
	}
	path := filepath.Join(t.TempDir(), "page.js")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Links between the pages, and to files of the repository, lead somewhere.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	pages, _ := filepath.Glob("*.md")
	for _, page := range append(pages, "../README.md", "../SECURITY.md", "../CONTRIBUTING.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

// Links to a part of a page lead to one of its headings.
func TestAnchors(t *testing.T) {
	heading := regexp.MustCompile(`(?m)^#+ (.*)$`)
	fence := regexp.MustCompile("(?ms)^```.*?^```$")
	link := regexp.MustCompile(`\]\(([^)#:\s]*)#([^)\s]+)\)`)
	pages, _ := filepath.Glob("*.md")
	texts, anchors := map[string]string{}, map[string]bool{}
	for _, page := range append(pages, "../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		texts[page] = fence.ReplaceAllString(string(text), "")
		for _, m := range heading.FindAllStringSubmatch(texts[page], -1) {
			anchors[page+"#"+slug(m[1])] = true
		}
	}
	for page, text := range texts {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			to := page
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(page), m[1])
			}
			if texts[to] != "" && !anchors[to+"#"+m[2]] {
				t.Errorf("%s: %s has no heading #%s", page, to, m[2])
			}
		}
	}
}

// slug returns the anchor of a heading.
func slug(heading string) string {
	heading = regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(heading, " ", "-")
}

// One line alone says that nothing is published, so that one line changes on the day of the first
// release.
func TestPublished(t *testing.T) {
	says := regexp.MustCompile(`(?im)^.*(?:nothing is published|not published|not on (?:npm|pypi)|in no repository|no release yet).*$`)
	var found []string
	for _, pattern := range []string{"*.md", "../*.md", "../packages/*/*.md", "../packages/*/*/*.md"} {
		pages, _ := filepath.Glob(pattern)
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range says.FindAllString(string(text), -1) {
				found = append(found, page+": "+line)
			}
		}
	}
	if len(found) > 1 || len(found) == 1 && !strings.HasPrefix(found[0], "../README.md") {
		t.Errorf("more than one line says that nothing is published:\n%s", strings.Join(found, "\n"))
	}
}
