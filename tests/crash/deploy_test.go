package crash

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/duskdb/duskdb/internal/freeport"
	"github.com/duskdb/duskdb/internal/pgtest"
	"github.com/duskdb/duskdb/internal/proc"
	"github.com/duskdb/duskdb/value"
)

// The examples of several servers must work: each server of them is started with the
// very arguments that the files have. Only addresses and paths are exchanged.

// container is a server of an example.
type container struct {
	Image       string
	Command     []string
	Args        []string
	Secrets     []string
	Env         []struct{ Name string }
	Healthcheck struct{ Test []string }
	Live        probe `yaml:"livenessProbe"`
	Ready       probe `yaml:"readinessProbe"`
}

type probe struct {
	HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
}

// entryPoint has the arguments that the image gives to the server.
func entryPoint(t *testing.T) (args []string) {
	t.Helper()
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "ENTRYPOINT ")
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(rest, "\\\n", "")), &args); err != nil || len(args) < 3 || args[0] != "/duskdb" {
		t.Fatalf("%q, %v", args, err)
	}
	return args[1:]
}

// deployed starts a server with the arguments of an example over a database of the
// test, and returns the server and the port of its metrics.
func deployed(t *testing.T, args []string, uri string) (*proc.Server, string) {
	t.Helper()
	metrics := strconv.Itoa(freeport.For(t))
	secret := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(secret, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	own, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, arg := range append(entryPoint(t), args...) {
		flag, text, _ := strings.Cut(arg, "=")
		switch {
		case flag == "--metricsPort":
			arg = flag + "=" + metrics
		case flag == "--storageURI":
			u, err := url.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if _, known := u.User.Password(); known {
				t.Error("the command line has a password")
			}
			q := u.Query()
			if !q.Has("passwordFile") {
				t.Errorf("%s has no file with the password", text)
			}
			q.Set("passwordFile", secret)
			u.Host, u.User, u.Path, u.RawQuery = own.Host, own.User, own.Path, q.Encode()
			arg = flag + "=" + u.String()
		case arg == "/data" || strings.HasPrefix(arg, "/docker-entrypoint"):
			arg = dir
		case arg == "0.0.0.0":
			arg = "127.0.0.1"
		case strings.HasPrefix(arg, "--metricsBindIp"):
			arg = "--metricsBindIp=127.0.0.1"
		case strings.Contains(arg, "$(POD_IP)"):
			arg = strings.Replace(arg, "$(POD_IP)", "127.0.0.1", 1)
		}
		out = append(out, arg)
	}
	return start(t, dir, out...), metrics
}

// serves checks that each of several servers has what another one has written.
func serves(t *testing.T, servers []*proc.Server) {
	t.Helper()
	for i, p := range servers {
		connect(t, p).must(t, "insert", value.String("deployed"), "documents", value.NewArray(value.Document(value.NewDoc("_id", value.Int32(int32(i))))))
	}
	for i, p := range servers {
		if n := len(connect(t, p).all(t, "deployed")); n != len(servers) {
			t.Errorf("server %d has %d documents", i, n)
		}
	}
}

func TestComposeCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("three servers")
	}
	t.Parallel()
	text, err := os.ReadFile("../../docker-compose.cluster.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]container
		Secrets  map[string]struct{ File string }
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	database := pgtest.Own(t)
	var servers []*proc.Server
	for name, c := range file.Services {
		if c.Image != "duskdb" {
			if name != "postgres" || !slices.Contains(c.Healthcheck.Test, "pg_isready") {
				t.Errorf("%s is %+v", name, c)
			}
			continue
		}
		for _, s := range c.Secrets {
			if file.Secrets[s].File == "" || !strings.Contains(strings.Join(c.Command, " "), "/run/secrets/"+s) {
				t.Errorf("%s: the secret %s", name, s)
			}
		}
		p, metrics := deployed(t, c.Command, database.URI(""))
		servers = append(servers, p)
		_, port, _ := net.SplitHostPort(p.Addr())
		if text, ok := duskdb(append(c.Healthcheck.Test[2:], "--port", port)...); !ok {
			t.Errorf("the health check of %s: %s", name, text)
		}
		if text, ok := duskdb("ping", "--port", metrics); ok {
			t.Errorf("ping of the metrics: %s", text)
		}
	}
	if len(servers) != 3 {
		t.Errorf("%d servers", len(servers))
	}
	serves(t, servers)
}

func TestKubernetesCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("three servers")
	}
	text, err := os.ReadFile("../../docs/kubernetes/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	var c container
	replicas := 0
	for dec := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var object struct {
			Kind string
			Spec struct {
				Replicas int
				Template struct {
					Spec struct{ Containers []container }
				}
			}
		}
		if err := dec.Decode(&object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		kinds[object.Kind]++
		if object.Kind == "Deployment" {
			c, replicas = object.Spec.Template.Spec.Containers[0], object.Spec.Replicas
		}
	}
	if kinds["Deployment"] != 1 || kinds["Service"] != 2 || kinds["PodDisruptionBudget"] != 1 || replicas != 3 {
		t.Errorf("%v, %d replicas", kinds, replicas)
	}
	if c.Env[0].Name != "DUSKDB_STORAGE_URI" {
		t.Fatalf("the environment is %v", c.Env)
	}
	t.Setenv("DUSKDB_STORAGE_URI", pgtest.Own(t).URI(""))
	var servers []*proc.Server
	for range replicas {
		p, metrics := deployed(t, c.Args, "")
		servers = append(servers, p)
		m := monitored{t: t, base: "http://127.0.0.1:" + metrics}
		m.waitReady(200)
		for _, path := range []string{c.Live.HTTPGet.Path, c.Ready.HTTPGet.Path} {
			if code, body := m.get(path); code != 200 || path == "" {
				t.Errorf("the probe %q: %d %s", path, code, body)
			}
		}
	}
	serves(t, servers)
}
