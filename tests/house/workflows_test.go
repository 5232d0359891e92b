package house

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// workflow is the part of a workflow that these tests look at.
type workflow struct {
	Name string         `yaml:"name"`
	On   map[string]any `yaml:"on"`
	Jobs map[string]struct {
		RunsOn  string `yaml:"runs-on"`
		Timeout int    `yaml:"timeout-minutes"`
		Steps   []struct {
			Uses string `yaml:"uses"`
			Run  string `yaml:"run"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

// TestWorkflows holds the workflows against the tree: each parses, its jobs end in time, its
// steps run stages of .ci/run that exist, and flags of packages that exist.
func TestWorkflows(t *testing.T) {
	names, err := filepath.Glob(".github/workflows/*")
	if err != nil || len(names) < 2 {
		t.Fatal("no workflows", names, err)
	}
	stages := ciStages(t)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var w workflow
		if err := yaml.Unmarshal(text, &w); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if w.Name == "" || len(w.On) == 0 || len(w.Jobs) == 0 {
			t.Errorf("%s has no name, no event or no job", name)
		}
		checked := 0
		for id, job := range w.Jobs {
			if job.RunsOn == "" || job.Timeout == 0 {
				t.Errorf("%s: job %s has no machine or no time-out", name, id)
			}
			for _, step := range job.Steps {
				if (step.Uses == "") == (step.Run == "") {
					t.Errorf("%s: a step of job %s has %q to use and %q to run", name, id, step.Uses, step.Run)
				}
				if step.Uses != "" && !regexp.MustCompile(`^actions/[\w-]+@v\d+$`).MatchString(step.Uses) {
					t.Errorf("%s uses %s, which is no action of GitHub's own in a version", name, step.Uses)
				}
				n, wrong := checkCommands(step.Run, stages)
				checked += n
				for _, w := range wrong {
					t.Errorf("%s: %s", name, w)
				}
			}
		}
		if checked == 0 {
			t.Errorf("%s runs nothing of this tree", name)
		}
	}
}

// ciStages are the stages of .ci/run, in their order.
func ciStages(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^readonly STAGES=\(([^)]*)\)$`).FindSubmatch(text)
	if list == nil {
		t.Fatal(".ci/run has no list of stages")
	}
	stages := strings.Fields(string(list[1]))
	for _, s := range stages {
		if !strings.Contains(string(text), "\nstage_"+s+"() {") {
			t.Errorf(".ci/run lists %s, which has no function", s)
		}
	}
	return stages
}

// checkCommands counts the commands of a script that run something of this tree, and says
// what does not exist.
func checkCommands(script string, stages []string) (checked int, wrong []string) {
	for command := range strings.FieldsFuncSeq(script, func(r rune) bool { return strings.ContainsRune("\n;&|", r) }) {
		words := strings.Fields(command)
		if i := slices.Index(words, ".ci/run"); i >= 0 {
			checked++
			for _, stage := range words[i+1:] {
				if !slices.Contains(stages, stage) {
					wrong = append(wrong, "there is no stage "+stage)
				}
			}
		}
		if len(words) > 2 && words[0] == "go" && words[1] == "run" {
			checked++
			wrong = append(wrong, checkGoRun(words[2], words[3:])...)
		}
	}
	return checked, wrong
}

// checkGoRun says what is wrong with the arguments of "go run": the package, or its flags.
func checkGoRun(dir string, args []string) (wrong []string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	if len(files) == 0 {
		return []string{"there is no package " + dir}
	}
	var source strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return []string{err.Error()}
		}
		source.Write(text)
	}
	for _, arg := range args {
		flag, ok := strings.CutPrefix(arg, "-")
		flag, _, _ = strings.Cut(strings.TrimPrefix(flag, "-"), "=")
		defined := regexp.MustCompile(`\.\w+Var\(&\w+, "` + regexp.QuoteMeta(flag) + `",`)
		if ok && !defined.MatchString(source.String()) {
			wrong = append(wrong, dir+" has no flag -"+flag)
		}
	}
	return wrong
}

func TestCheckCommands(t *testing.T) {
	for script, want := range map[string]int{
		"bash .ci/run":                             0,
		"sudo env A=b bash .ci/run vet":            0,
		"bash .ci/run vet nothing":                 1,
		"go run ./internal/release -check -out d":  0,
		"go run ./internal/release -sign && true":  1,
		"go run ./internal/nowhere":                1,
		"cd dist\ngo run ./internal/release -out=": 0,
	} {
		if n, wrong := checkCommands(script, []string{"vet"}); n != 1 || len(wrong) != want {
			t.Errorf("%s: %d commands, %q", script, n, wrong)
		}
	}
}
