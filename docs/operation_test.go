package docs_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/duskdb/duskdb/internal/needs"
	"github.com/duskdb/duskdb/internal/proc"
)

// TestBackupScript makes three backups and keeps two; each is restored and served, whatever its
// storage engine is. A damaged one ends the script, and nothing is removed.
func TestBackupScript(t *testing.T) {
	needs.Program(t, "sh", "find", "mktemp")
	bin := t.TempDir()
	if err := needs.Server(filepath.Join(bin, "duskdb")); err != nil {
		t.Fatal(err)
	}
	for _, engine := range []string{"bunt", "pebble"} {
		t.Run(engine, func(t *testing.T) {
			cmd := exec.Command(filepath.Join(bin, "duskdb"), "--storageEngine", engine, "--dbpath", filepath.Join(t.TempDir(), "data"), "--port", "0")
			testBackupScript(t, bin, proc.Start(t, cmd).URI)
		})
	}
}

func testBackupScript(t *testing.T, bin, server string) {
	backups := t.TempDir()
	// The real time has the resolution of a second: the date of each run is given.
	date := "#!/bin/sh\ncat \"$BACKUP_DATE\"\n"
	if err := os.WriteFile(filepath.Join(bin, "date"), []byte(date), 0o755); err != nil {
		t.Fatal(err)
	}
	now := filepath.Join(t.TempDir(), "now")
	run := func(uri, at string) (string, error) {
		if err := os.WriteFile(now, []byte(at), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "sh", "backup.sh", backups, "2")
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "DUSKDB_URI="+uri, "BACKUP_DATE="+now)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, at := range []string{"20260101T000000Z", "20260102T000000Z", "20260103T000000Z"} {
		if out, err := run(server, at); err != nil || !strings.Contains(out, "duskdb-"+at+" is a good backup") || !strings.Contains(out, "everything is sound") {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	kept := func() string {
		names, _ := filepath.Glob(filepath.Join(backups, "*"))
		for i := range names {
			names[i] = filepath.Base(names[i])
		}
		return strings.Join(names, " ")
	}
	if got := kept(); got != "duskdb-20260102T000000Z duskdb-20260103T000000Z" {
		t.Errorf("kept %s", got)
	}
	if out, err := run("mongodb://127.0.0.1:1", "20260104T000000Z"); err == nil || strings.Contains(out, "good backup") {
		t.Errorf("a backup of no server: %s", out)
	}
	if got := kept(); got != "duskdb-20260102T000000Z duskdb-20260103T000000Z" {
		t.Errorf("kept %s after a failure", got)
	}
}

// What keeps the script from working is said in a sentence.
func TestBackupScriptRefuses(t *testing.T) {
	needs.Program(t, "sh")
	bin := t.TempDir()
	if err := needs.Server(filepath.Join(bin, "duskdb")); err != nil {
		t.Fatal(err)
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path, want string
		args       []string
	}{
		{bin, "name the directory of the backups", nil},
		{bin, "there is no directory /nosuch: make it", []string{"/nosuch"}},
		{"/nosuch", "duskdb is not on the PATH, /nosuch:/usr/local/bin", []string{t.TempDir()}},
	} {
		cmd := exec.CommandContext(t.Context(), sh, append([]string{"backup.sh"}, tt.args...)...)
		cmd.Env = []string{"PATH=" + tt.path}
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "backup.sh: "+tt.want) {
			t.Errorf("%v: %v, %s", tt.args, err, out)
		}
	}
}

// Every message on the page stands in the sources.
func TestTroubleshootingQuotesMessages(t *testing.T) {
	page, err := os.ReadFile("troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	var sources bytes.Buffer
	for _, dir := range []string{"../commands", "../server", "../storage", "../ttl", "../queue", "../cmd/duskdb", "../internal"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			sources.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		if n++; !bytes.Contains(sources.Bytes(), []byte(m[1])) {
			t.Errorf("no message %q in the sources", m[1])
		}
	}
	if n < 15 {
		t.Errorf("only %d messages were found", n)
	}
}

// manifest has the parts of a manifest of Kubernetes that are checked.
type manifest struct {
	Kind     string
	Metadata struct {
		Name   string
		Labels map[string]string
	}
	Spec struct {
		ServiceName string `yaml:"serviceName"`
		Replicas    int
		Selector    map[string]any
		Ports       []struct {
			Name       string
			TargetPort string `yaml:"targetPort"`
		}
		Template struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				SecurityContext map[string]any `yaml:"securityContext"`
				Containers      []container
				Volumes         []struct{ Name string }
			}
		}
		VolumeClaimTemplates []struct{ Metadata struct{ Name string } } `yaml:"volumeClaimTemplates"`
	}
}

type container struct {
	Args  []string
	Ports []struct {
		Name          string
		ContainerPort int `yaml:"containerPort"`
	}
	Live            probe          `yaml:"livenessProbe"`
	Ready           probe          `yaml:"readinessProbe"`
	SecurityContext map[string]any `yaml:"securityContext"`
	VolumeMounts    []struct {
		Name      string
		MountPath string `yaml:"mountPath"`
	} `yaml:"volumeMounts"`
	Resources struct{ Limits map[string]string }
}

type probe struct {
	HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
}

// TestKubernetesManifest: the parts of the manifest fit together, the server understands its
// arguments, and the container may do no more than it must.
func TestKubernetesManifest(t *testing.T) {
	text, err := os.ReadFile("kubernetes/single.yaml")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]manifest{}
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var m manifest
		if err := d.Decode(&m); err != nil {
			break
		}
		kinds[m.Kind] = m
	}
	set, service := kinds["StatefulSet"], kinds["Service"]
	pod := set.Spec.Template.Spec
	if len(pod.Containers) != 1 || set.Spec.Replicas != 1 || set.Spec.ServiceName != service.Metadata.Name || service.Metadata.Name == "" {
		t.Fatalf("%d containers, %d replicas, service %q", len(pod.Containers), set.Spec.Replicas, set.Spec.ServiceName)
	}
	const label = "app.kubernetes.io/name"
	if l := set.Spec.Template.Metadata.Labels[label]; l == "" || service.Spec.Selector[label] != l {
		t.Errorf("the service selects %v, the pods are %q", service.Spec.Selector, l)
	}
	c := pod.Containers[0]
	ports := map[string]int{}
	for _, p := range c.Ports {
		ports[p.Name] = p.ContainerPort
	}
	for _, p := range service.Spec.Ports {
		if ports[p.TargetPort] == 0 {
			t.Errorf("the service leads to the port %s, which the container does not have", p.TargetPort)
		}
	}
	if !strings.Contains(strings.Join(c.Args, " "), "--metricsPort 9216") || ports["metrics"] != 9216 || ports["mongodb"] != 27017 {
		t.Errorf("ports %v, arguments %v", ports, c.Args)
	}
	for path, p := range map[string]probe{"/healthz": c.Live, "/readyz": c.Ready} {
		if p.HTTPGet.Path != path || p.HTTPGet.Port != "metrics" {
			t.Errorf("the probe of %s asks %+v", path, p.HTTPGet)
		}
	}
	volumes := map[string]bool{}
	for _, v := range pod.Volumes {
		volumes[v.Name] = true
	}
	for _, v := range set.Spec.VolumeClaimTemplates {
		volumes[v.Metadata.Name] = true
	}
	mounts := map[string]bool{}
	for _, m := range c.VolumeMounts {
		mounts[m.MountPath] = volumes[m.Name]
	}
	if !mounts["/data"] || !mounts["/tmp"] || c.Resources.Limits["memory"] == "" {
		t.Errorf("mounts %v, limits %v", mounts, c.Resources.Limits)
	}
	if s := c.SecurityContext; s["readOnlyRootFilesystem"] != true || s["allowPrivilegeEscalation"] != false || pod.SecurityContext["runAsNonRoot"] != true || pod.SecurityContext["runAsUser"] != 65532 {
		t.Errorf("security: %v, %v", s, pod.SecurityContext)
	}
	// An invalid parameter makes the server end after it has understood all the rest.
	bin := filepath.Join(t.TempDir(), "duskdb")
	if err := needs.Server(bin); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bin, append(c.Args, "--setParameter", "nonsense")...)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "--setParameter needs name=value") {
		t.Errorf("the arguments %v: %v\n%s", c.Args, err, out)
	}
}
