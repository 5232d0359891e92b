package compat

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/internal/needs"
	"github.com/duskdb/duskdb/internal/proc"
)

// TestConsumers runs the consumers of the page about queues, unchanged: each does what can be
// done, and what cannot becomes a dead letter after two deliveries.
func TestConsumers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "docs", "service-bus.md"))
	if err != nil {
		t.Fatal(err)
	}
	for language, command := range map[string]func(t *testing.T, program string) *exec.Cmd{
		"go": consumerInGo, "js": consumerInNode, "python": consumerInPython, "java": consumerInJava,
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			m := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```$").FindSubmatch(text)
			if m == nil {
				t.Fatalf("the page has no consumer in %s", language)
			}
			consume(t, command(t, string(m[1])))
		})
	}
}

// consume runs a consumer until its queue is empty.
func consume(t *testing.T, cmd *exec.Cmd) {
	s := start(t)
	client, err := mongo.Connect(options.Client().ApplyURI(s.URI))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(t.Context())
	db := client.Database("app")
	if err := db.RunCommand(t.Context(), bson.D{{Key: "create", Value: "jobs"}, {Key: "messageQueue", Value: bson.D{{Key: "maxDeliveryCount", Value: 2}}}}).Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Collection("jobs").InsertMany(t.Context(), []bson.D{{{Key: "task", Value: "resize"}}, {{Key: "task", Value: "impossible"}}, {{Key: "task", Value: "crop"}}}); err != nil {
		t.Fatal(err)
	}
	var out proc.Output
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Env = append(cmd.Environ(), "DUSKDB_URI="+s.URI)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	deadline := time.After(time.Minute)
	for {
		var stats struct{ Active, Locked, DeadLettered int64 }
		if err := db.RunCommand(t.Context(), bson.D{{Key: "mqStats", Value: "jobs"}}).Decode(&stats); err != nil {
			t.Fatal(err)
		}
		if stats.Active == 0 && stats.Locked == 0 && stats.DeadLettered == 1 {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("the consumer ended: %v\n%s", err, out.Tail(2000))
		case <-deadline:
			t.Fatalf("left: %+v\n%s", stats, out.Tail(2000))
		case <-time.After(20 * time.Millisecond):
		}
	}
	done, dead := bson.A{}, bson.A{}
	if err := db.Collection("done").Distinct(t.Context(), "task", bson.D{}).Decode(&done); err != nil || len(done) != 2 {
		t.Errorf("done: %v, %v", done, err)
	}
	if err := db.Collection("jobs.deadletterqueue").Distinct(t.Context(), "task", bson.D{}).Decode(&dead); err != nil || len(dead) != 1 || dead[0] != "impossible" {
		t.Errorf("dead letters: %v, %v", dead, err)
	}
}

// consumerInGo builds the program as a command of this module, by an overlay.
func consumerInGo(t *testing.T, program string) *exec.Cmd {
	dir := t.TempDir()
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	file, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "consumer")
	overlay, _ := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(here, "consumer", "main.go"): file}})
	write := func(name string, text []byte) {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file, []byte(program))
	write(filepath.Join(dir, "overlay.json"), overlay)
	client{args: []string{"go", "build", "-o", binary, "-overlay", filepath.Join(dir, "overlay.json"), "./consumer"}, dir: here}.output(t)
	return exec.Command(binary)
}

func consumerInNode(t *testing.T, program string) *exec.Cmd {
	needs.Client(t, "node", "npm")
	cmd := exec.Command("node", consumerFile(t, "consumer.js", program))
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(nodeClients.path(t), "node_modules"))
	return cmd
}

func consumerInPython(t *testing.T, program string) *exec.Cmd {
	needs.Client(t, "python3")
	return exec.Command(filepath.Join(pythonClients.path(t), "venv", "bin", "python"), consumerFile(t, "consumer.py", program))
}

func consumerInJava(t *testing.T, program string) *exec.Cmd {
	needs.Client(t, "java", "mvn")
	return exec.Command("java", "-cp", filepath.Join(javaClients.path(t), "lib", "*"), consumerFile(t, "Consumer.java", program))
}

func consumerFile(t *testing.T, name, program string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
