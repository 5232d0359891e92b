package packages_test

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/needs"
)

// rehearse runs the steps that publish a release as far as they need no registry, with a key that
// is made for it.
func rehearse(t *testing.T, dist string) {
	needs.Client(t, "npm", "java", "mvn", "gpg", "skopeo", "ruby")
	home := t.TempDir()
	if err := os.Chmod(home, 0o700); err != nil {
		t.Fatal(err)
	}
	gpg := func(args ...string) string {
		cmd := exec.Command("gpg", append([]string{"--batch", "--homedir", home}, args...)...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("gpg: %v\n%s", err, stderr.Bytes())
		}
		return string(out)
	}
	gpg("--passphrase", "", "--quick-generate-key", "rehearsal@example.com", "rsa2048", "sign", "never")
	t.Cleanup(func() { _ = exec.Command("gpgconf", "--homedir", home, "--kill", "all").Run() })
	runFor(t, 10*time.Minute, "..", []string{"PYTHON=" + venvOf(t, "../.ci/publish.txt"), "MAVEN_GPG_KEY=" + gpg("--armor", "--export-secret-keys")},
		"bash", ".ci/publish", "rehearse", dist)
}

// The workflow runs each step once, in the order of the list.
func TestWorkflowPublishes(t *testing.T) {
	script, err := os.ReadFile("../.ci/publish")
	if err != nil {
		t.Fatal(err)
	}
	workflow, err := os.ReadFile("../.github/workflows/release.yml")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^readonly STEPS=\((.*)\)$`).FindSubmatch(script)
	if list == nil {
		t.Fatal("the script has no list of steps")
	}
	var run []string
	for _, m := range regexp.MustCompile(`\.ci/publish (\w+) dist`).FindAllSubmatch(workflow, -1) {
		run = append(run, string(m[1]))
	}
	if want := strings.Fields(string(list[1])); !slices.Equal(run, want) {
		t.Errorf("the workflow runs %v, and there are %v", run, want)
	}
}
