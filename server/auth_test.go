package server_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/server"
)

// cheap keeps the hashing of passwords from taking the tests' time.
var cheap = map[string]string{"scramIterationCount": "5000", "scramSHA256IterationCount": "5000"}

// runServer starts a server that ends with the test.
func runServer(t *testing.T, cfg server.Config) *server.Server {
	t.Helper()
	if cfg.Parameters == nil {
		cfg.Parameters = cheap
	}
	srv, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Close(context.Background()) })
	return srv
}

// connect makes a client; cred may be nil.
func connect(t *testing.T, srv *server.Server, cred *options.Credential) *mongo.Client {
	t.Helper()
	o := options.Client().ApplyURI(srv.URI()).SetServerMonitoringMode(options.ServerMonitoringModePoll)
	if cred != nil {
		o.SetAuth(*cred)
	}
	client, err := mongo.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return client
}

// run runs a command and gives its error the form {code, message}.
func run(c *mongo.Client, db string, cmd bson.D) (bson.M, error) {
	var out bson.M
	err := c.Database(db).RunCommand(context.Background(), cmd).Decode(&out)
	return out, err
}

func mustRun(t *testing.T, c *mongo.Client, db string, cmd bson.D) bson.M {
	t.Helper()
	out, err := run(c, db, cmd)
	if err != nil {
		t.Fatalf("%v: %v", cmd[0], err)
	}
	return out
}

func wantError(t *testing.T, err error, code int32, text string) {
	t.Helper()
	var ce mongo.CommandError
	if !errors.As(err, &ce) {
		t.Fatalf("got %v, want error %d", err, code)
	}
	if ce.Code != code || !strings.Contains(ce.Message, text) {
		t.Fatalf("got (%d) %s, want (%d) %s", ce.Code, ce.Message, code, text)
	}
}

var rootConfig = server.Config{Auth: true, RootUser: "root", RootPassword: "secret"}

func rootCredential() *options.Credential {
	return &options.Credential{Username: "root", Password: "secret"}
}

func TestSCRAM(t *testing.T) {
	srv := runServer(t, rootConfig)
	root := connect(t, srv, rootCredential())
	mustRun(t, root, "shop", bson.D{{Key: "createUser", Value: "ann"}, {Key: "pwd", Value: "pass, =wörd"}, {Key: "roles", Value: bson.A{"readWrite"}}})
	mustRun(t, root, "shop", bson.D{{Key: "createUser", Value: "old=,user"}, {Key: "pwd", Value: "p"}, {Key: "roles", Value: bson.A{}}, {Key: "mechanisms", Value: bson.A{"SCRAM-SHA-1"}}})
	cases := []struct {
		name, user, pwd, mechanism, source string
		ok                                 bool
	}{
		{"negotiated", "ann", "pass, =wörd", "", "shop", true},
		{"SHA-256", "ann", "pass, =wörd", "SCRAM-SHA-256", "shop", true},
		{"SHA-1", "ann", "pass, =wörd", "SCRAM-SHA-1", "shop", true},
		{"escaped name", "old=,user", "p", "", "shop", true},
		{"no credentials of the mechanism", "old=,user", "p", "SCRAM-SHA-256", "shop", false},
		{"wrong password", "ann", "x", "", "shop", false},
		{"wrong database", "ann", "pass, =wörd", "", "admin", false},
		{"no such user", "bob", "x", "SCRAM-SHA-1", "shop", false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := connect(t, srv, &options.Credential{Username: tc.user, Password: tc.pwd, AuthMechanism: tc.mechanism, AuthSource: tc.source})
			out, err := run(c, "shop", bson.D{{Key: "connectionStatus", Value: 1}})
			if (err == nil) != tc.ok {
				t.Fatalf("err = %v, want success %t", err, tc.ok)
			}
			if err != nil {
				if !strings.Contains(err.Error(), "Authentication failed.") {
					t.Fatalf("error says too much or too little: %v", err)
				}
				return
			}
			users := out["authInfo"].(bson.D)[0].Value.(bson.A)
			if got := users[0].(bson.D)[0].Value; got != tc.user {
				t.Fatalf("logged in as %v", got)
			}
		})
	}
}

func TestLoginIsDemanded(t *testing.T) {
	srv := runServer(t, rootConfig)
	c := connect(t, srv, nil)
	for _, cmd := range []string{"ping", "hello", "connectionStatus", "logout"} {
		mustRun(t, c, "admin", bson.D{{Key: cmd, Value: 1}})
	}
	_, err := run(c, "shop", bson.D{{Key: "find", Value: "orders"}})
	wantError(t, err, 13, "Command find requires authentication")
	_, err = run(c, "admin", bson.D{{Key: "buildInfo", Value: 1}})
	wantError(t, err, 13, "Command buildInfo requires authentication")
	_, err = run(c, "admin", bson.D{{Key: "endSessions", Value: bson.A{}}}) // drivers send it and do not look at the reply
	wantError(t, err, 13, "Command endSessions requires authentication")
	_, err = run(c, "admin", bson.D{{Key: "createUser", Value: "x"}, {Key: "pwd", Value: "hidden"}, {Key: "roles", Value: bson.A{}}})
	wantError(t, err, 13, "Command createUser requires authentication")
}

func TestLocalhostException(t *testing.T) {
	srv := runServer(t, server.Config{Auth: true})
	c := connect(t, srv, nil)
	_, err := run(c, "shop", bson.D{{Key: "createUser", Value: "x"}, {Key: "pwd", Value: "hidden"}, {Key: "roles", Value: bson.A{}}})
	wantError(t, err, 13, "not authorized on shop to execute command { createUser")
	_, err = run(c, "shop", bson.D{{Key: "find", Value: "orders"}})
	wantError(t, err, 13, "not authorized on shop to execute command { find: \"orders\"")
	mustRun(t, c, "admin", bson.D{{Key: "createUser", Value: "root"}, {Key: "pwd", Value: "secret"}, {Key: "roles", Value: bson.A{"root"}}})
	_, err = run(c, "admin", bson.D{{Key: "createUser", Value: "second"}, {Key: "pwd", Value: "p"}, {Key: "roles", Value: bson.A{"root"}}})
	wantError(t, err, 13, "Command createUser requires authentication")
	mustRun(t, connect(t, srv, rootCredential()), "admin", bson.D{{Key: "usersInfo", Value: 1}})

	closed := runServer(t, server.Config{Auth: true, Parameters: map[string]string{"enableLocalhostAuthBypass": "false"}})
	_, err = run(connect(t, closed, nil), "admin", bson.D{{Key: "createUser", Value: "root"}, {Key: "pwd", Value: "secret"}, {Key: "roles", Value: bson.A{"root"}}})
	wantError(t, err, 13, "Command createUser requires authentication")
}

// Before there is a user, scripts set up a replica set: mongod lets them.
func TestLocalhostExceptionInSet(t *testing.T) {
	srv := runServer(t, server.Config{Auth: true, ReplSet: "rs0"})
	c := connect(t, srv, nil)
	member := bson.D{{Key: "_id", Value: 0}, {Key: "host", Value: srv.Addr()}}
	mustRun(t, c, "admin", bson.D{{Key: "replSetInitiate", Value: bson.D{{Key: "_id", Value: "rs0"}, {Key: "members", Value: bson.A{member}}}}})
	mustRun(t, c, "admin", bson.D{{Key: "replSetGetStatus", Value: 1}})
	_, err := run(c, "admin", bson.D{{Key: "replSetStepDown", Value: 1}})
	wantError(t, err, 13, "not authorized on admin to execute command { replSetStepDown: 1")
	mustRun(t, c, "admin", bson.D{{Key: "createUser", Value: "root"}, {Key: "pwd", Value: "secret"}, {Key: "roles", Value: bson.A{"root"}}})
	_, err = run(c, "admin", bson.D{{Key: "replSetGetStatus", Value: 1}})
	wantError(t, err, 13, "Command replSetGetStatus requires authentication")
}

func TestChangesCountAtOnce(t *testing.T) {
	srv := runServer(t, rootConfig)
	root := connect(t, srv, rootCredential())
	mustRun(t, root, "shop", bson.D{{Key: "createUser", Value: "ann"}, {Key: "pwd", Value: "p"}, {Key: "roles", Value: bson.A{"read"}}})
	ann := connect(t, srv, &options.Credential{Username: "ann", Password: "p", AuthSource: "shop"})
	insert := bson.D{{Key: "insert", Value: "orders"}, {Key: "documents", Value: bson.A{bson.D{{Key: "a", Value: 1}}}}}
	mustRun(t, ann, "shop", bson.D{{Key: "find", Value: "orders"}})
	_, err := run(ann, "shop", insert)
	wantError(t, err, 13, "not authorized on shop to execute command { insert: \"orders\"")
	mustRun(t, root, "shop", bson.D{{Key: "grantRolesToUser", Value: "ann"}, {Key: "roles", Value: bson.A{"readWrite"}}})
	mustRun(t, ann, "shop", insert)
	mustRun(t, root, "shop", bson.D{{Key: "revokeRolesFromUser", Value: "ann"}, {Key: "roles", Value: bson.A{"readWrite"}}})
	_, err = run(ann, "shop", insert)
	wantError(t, err, 13, "not authorized")
	mustRun(t, root, "shop", bson.D{{Key: "dropUser", Value: "ann"}})
	_, err = run(ann, "shop", bson.D{{Key: "find", Value: "orders"}})
	wantError(t, err, 13, "Command find requires authentication")
	mustRun(t, root, "shop", bson.D{{Key: "createUser", Value: "ann"}, {Key: "pwd", Value: "other"}, {Key: "roles", Value: bson.A{"read"}}})
	_, err = run(ann, "shop", bson.D{{Key: "find", Value: "orders"}})
	wantError(t, err, 13, "Command find requires authentication")
}

func TestPasswordsAreNotShown(t *testing.T) {
	srv := runServer(t, rootConfig)
	root := connect(t, srv, rootCredential())
	mustRun(t, root, "shop", bson.D{{Key: "createUser", Value: "ann"}, {Key: "pwd", Value: "p"}, {Key: "roles", Value: bson.A{}}})
	ann := connect(t, srv, &options.Credential{Username: "ann", Password: "p", AuthSource: "shop"})
	_, err := run(ann, "shop", bson.D{{Key: "createUser", Value: "bob"}, {Key: "pwd", Value: "hidden"}, {Key: "roles", Value: bson.A{}}})
	wantError(t, err, 13, "not authorized on shop to execute command { createUser")
	if strings.Contains(err.Error(), "hidden") {
		t.Fatal(err)
	}
}

func TestWithoutAuthEverybodyMay(t *testing.T) {
	srv := runServer(t, server.Config{})
	c := connect(t, srv, nil)
	mustRun(t, c, "shop", bson.D{{Key: "createUser", Value: "ann"}, {Key: "pwd", Value: "p"}, {Key: "roles", Value: bson.A{"read"}}})
	ann := connect(t, srv, &options.Credential{Username: "ann", Password: "p", AuthSource: "shop"})
	mustRun(t, ann, "shop", bson.D{{Key: "insert", Value: "orders"}, {Key: "documents", Value: bson.A{bson.D{}}}})
	if _, err := run(connect(t, srv, &options.Credential{Username: "ann", Password: "x", AuthSource: "shop"}), "shop", bson.D{{Key: "ping", Value: 1}}); err == nil {
		t.Fatal("a wrong password was taken")
	}
}

func TestOpenServerWarns(t *testing.T) {
	const text = "Access control is not enabled for the database. Read and write access to data and configuration is unrestricted"
	for _, tc := range []struct {
		name string
		cfg  server.Config
		want bool
	}{
		{"loopback", server.Config{}, false},
		{"everywhere", server.Config{BindIP: []string{"0.0.0.0"}}, true},
		{"everywhere with auth", server.Config{BindIP: []string{"0.0.0.0"}, Auth: true, RootUser: "root", RootPassword: "secret"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			srv := runServer(t, tc.cfg)
			var cred *options.Credential
			if tc.cfg.Auth {
				cred = rootCredential()
			}
			out := mustRun(t, connect(t, srv, cred), "admin", bson.D{{Key: "getLog", Value: "startupWarnings"}})
			found := false
			for _, line := range out["log"].(bson.A) {
				found = found || strings.Contains(line.(string), text)
			}
			if found != tc.want {
				t.Fatalf("warned: %t", found)
			}
		})
	}
}

func TestOneUserPerConnection(t *testing.T) {
	srv := runServer(t, rootConfig)
	o := options.Client().ApplyURI(srv.URI()).SetMaxPoolSize(1).SetAuth(*rootCredential())
	client, err := mongo.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	_, err = run(client, "admin", bson.D{{Key: "saslContinue", Value: 1}, {Key: "conversationId", Value: 1}, {Key: "payload", Value: bson.Binary{}}})
	wantError(t, err, 17, "No SASL session state found")
	_, err = run(client, "admin", bson.D{{Key: "saslStart", Value: 1}, {Key: "mechanism", Value: "GUESS"}, {Key: "payload", Value: bson.Binary{}}})
	wantError(t, err, 334, "Received authentication for mechanism GUESS which is unknown or not enabled")
	_, err = run(client, "admin", bson.D{{Key: "authenticate", Value: 1}, {Key: "mechanism", Value: "MONGODB-CR"}, {Key: "user", Value: "x"}})
	wantError(t, err, 2, "Unsupported mechanism")
	mustRun(t, client, "admin", bson.D{{Key: "logout", Value: 1}})
	_, err = run(client, "admin", bson.D{{Key: "usersInfo", Value: 1}})
	wantError(t, err, 13, "Command usersInfo requires authentication")
}
