// Package access logs in to a real server process, with access control
// and its data on disk, and tries what is not allowed.
package access

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/internal/proc"
)

// binary is the server, built once.
var binary string

func TestMain(m *testing.M) { proc.Main(m, &binary) }

// process is a running server with access control and a user root.
type process struct {
	testing.TB
	*proc.Server
}

// start starts the server on a directory and waits until it listens.
func start(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	return launch(t, []string{"DUSKDB_ROOT_USERNAME=root", "DUSKDB_ROOT_PASSWORD=secret"}, dir, args...)
}

// startWithoutRoot is start without any user.
func startWithoutRoot(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	return launch(t, nil, dir, args...)
}

func launch(t *testing.T, env []string, dir string, args ...string) *process {
	t.Helper()
	cmd := exec.Command(binary, append([]string{
		"--dbpath", dir, "--port", "0", "--auth", "--logFormat", "json",
		"--setParameter", "scramIterationCount=5000", "--setParameter", "scramSHA256IterationCount=5000",
	}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	return &process{t, proc.Start(t, cmd)}
}

// stop ends the server as an operator does.
func (p *process) stop() {
	p.Helper()
	p.Stop(p)
}

// login is a client with one connection that is logged in as a user of admin.
func (p *process) login(name, password string) *login {
	p.Helper()
	o := options.Client().ApplyURI(p.URI).SetServerMonitoringMode(options.ServerMonitoringModePoll).SetRetryReads(false)
	c, err := mongo.Connect(o.SetAuth(options.Credential{Username: name, Password: password, AuthSource: "admin"}))
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = c.Disconnect(context.Background()) })
	return &login{p, c}
}

func (p *process) root() *login { return p.login("root", "secret") }

type login struct {
	testing.TB
	client *mongo.Client
}

// run runs a command in relaxed extended JSON.
func (l *login) run(db, command string) (bson.M, error) {
	l.Helper()
	var cmd bson.D
	if err := bson.UnmarshalExtJSON([]byte(command), false, &cmd); err != nil {
		l.Fatalf("%s: %v", command, err)
	}
	var reply bson.M
	err := l.client.Database(db).RunCommand(context.Background(), cmd).Decode(&reply)
	return reply, err
}

func (l *login) must(db, command string) bson.M {
	l.Helper()
	reply, err := l.run(db, command)
	if err != nil {
		l.Fatalf("%s: %v", command, err)
	}
	return reply
}

// refuses runs a command that must fail with a code.
func (l *login) refuses(code int32, db, command string) string {
	l.Helper()
	reply, err := l.run(db, command)
	var failed mongo.CommandError
	if !errors.As(err, &failed) || failed.Code != code {
		l.Errorf("%s on %s: %v, %v, want code %d", command, db, reply, err, code)
	}
	return failed.Message
}

// cursor opens a cursor and returns its id.
func (l *login) cursor(db, command string) int64 {
	l.Helper()
	var id int64
	for _, e := range l.must(db, command)["cursor"].(bson.D) {
		if e.Key == "id" {
			id = e.Value.(int64)
		}
	}
	if id == 0 {
		l.Fatalf("%s left no cursor", command)
	}
	return id
}
