//go:build linux

package compat

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/internal/needs"
)

// containerUser is the user id of the image.
const containerUser = 65532

// image is the image of the Dockerfile, built without a container engine: a directory with
// its last stage, which is the root of the file system for its processes.
type image struct {
	root               string
	entry, healthcheck []string
	stop               string
}

// buildImage follows the Dockerfile: it builds the binary with the Dockerfile's command
// and reads the other instructions.
func buildImage(t *testing.T) image {
	t.Helper()
	b, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(b), "\\\n", " ")
	img := image{root: t.TempDir(), stop: argument(t, text, `STOPSIGNAL (\S+)`)}
	for pattern, list := range map[string]*[]string{`ENTRYPOINT (\[.*\])`: &img.entry, `HEALTHCHECK .*CMD (\[.*\])`: &img.healthcheck} {
		if err := json.Unmarshal([]byte(argument(t, text, pattern)), list); err != nil {
			t.Fatal(err)
		}
	}
	if user := argument(t, text, `USER (\d+):\d+`); user != fmt.Sprint(containerUser) {
		t.Fatalf("the image runs as %s", user)
	}
	build := exec.Command("sh", "-c", strings.ReplaceAll(argument(t, text, `RUN (CGO_ENABLED=0 .*go build .*)`), "/out/", img.root+"/"))
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for dir := range strings.FieldsSeq(argument(t, text, `RUN mkdir -p (.*)`)) {
		dir = filepath.Join(img.root, strings.TrimPrefix(dir, "/writable"))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(dir, img.owner(), img.owner()); err != nil {
			t.Fatal(err)
		}
	}
	return img
}

// argument is what an instruction of the Dockerfile says.
func argument(t *testing.T, text, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^\s*` + pattern + `\s*$`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("the Dockerfile has no %s", pattern)
	}
	return m[1]
}

// owner returns the user id of the image's user outside: root can run as any user, other
// users only as themselves.
func (image) owner() int {
	if os.Geteuid() == 0 {
		return containerUser
	}
	return os.Geteuid()
}

// command runs a program of the image, in it and as its user, with no more in
// its environment than is given.
func (img image) command(env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Path, cmd.Err = args[0], nil
	cmd.Dir, cmd.Env = "/", env
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: img.root}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: containerUser, Gid: containerUser}
	} else {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: containerUser, HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: containerUser, HostID: os.Getegid(), Size: 1}}
	}
	return cmd
}

// run starts the entry with arguments behind it, as docker run does.
func (img image) run(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p, err := begin(img.command(env, append(img.entry, args...)...))
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
		needs.Missing(t, "chroot") // this machine gives no process a file system of its own
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	if p.URI == "" {
		p.Kill()
		t.Fatalf("the container did not start:\n%s", p.Stderr.Tail(4000))
	}
	return p
}

// TestContainer runs the server as in the image: without a shell, time zones or other
// files, as a user without a name, with the variables and seed files of mongo's official
// image.
func TestContainer(t *testing.T) {
	t.Parallel()
	img := buildImage(t)
	if img.stop != "SIGTERM" {
		t.Errorf("stopped by %s", img.stop)
	}
	for name, text := range map[string]string{
		"docker-entrypoint-initdb.d/carts.json":   `[{"_id": 1}, {"_id": 2}]`,
		"docker-entrypoint-initdb.d/items.ndjson": "{\"_id\": 1}\n",
		"docker-entrypoint-initdb.d/setup.js":     "throw 'not run'",
		"run/secrets/password":                    "se@cret\n",
	} {
		file := filepath.Join(img.root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{
		"MONGO_INITDB_ROOT_USERNAME=root", "MONGO_INITDB_ROOT_PASSWORD_FILE=/run/secrets/password", "MONGO_INITDB_DATABASE=shop",
	}
	for _, start := range []string{"first", "second"} {
		p := img.run(t, env, "--port", "0")
		addr := strings.TrimSuffix(strings.TrimPrefix(p.URI, "mongodb://"), "/?directConnection=true")
		_, port, err := net.SplitHostPort(addr)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := img.command([]string{"DUSKDB_PORT=" + port}, img.healthcheck...).CombinedOutput(); err != nil {
			t.Errorf("%s start: the health check says %v\n%s", start, err, out)
		}
		seeded(t, "mongodb://root:se%40cret@127.0.0.1:"+port+"/?directConnection=true")
		if out, err := img.command(nil, img.healthcheck[0], "ping", "127.0.0.1:1").CombinedOutput(); err == nil {
			t.Errorf("nobody is healthy: %s", out)
		}
		p.Stop(t)
	}
}

// seeded looks at the data after a start; nobody sees it without a login.
func seeded(t *testing.T, uri string) {
	t.Helper()
	for _, login := range []bool{true, false} {
		o := options.Client().ApplyURI(uri)
		if !login {
			o.Auth = nil
		}
		c, err := mongo.Connect(o)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Disconnect(t.Context()) }()
		for name, want := range map[string]int64{"carts": 2, "items": 1} {
			n, err := c.Database("shop").Collection(name).CountDocuments(t.Context(), bson.D{})
			if login && (err != nil || n != want) || !login && err == nil {
				t.Errorf("login %v: %d %s, %v", login, n, name, err)
			}
		}
	}
}
