package pgtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/freeport"
	"github.com/duskdb/duskdb/internal/needs"
)

// Patroni is three PostgreSQL with a Patroni beside each, and three etcd, all on this machine.
// They end with the test.
type Patroni struct {
	testing.TB
	dir     string
	bin     string // PostgreSQL's programs
	python  string
	config  string // the file of all instances; the environment has the rest
	Members [3]*Member
	Etcd    [3]*Etcd
}

// Member is a PostgreSQL and its Patroni.
type Member struct {
	*Server
	Name   string
	api    string // address of Patroni's API
	daemon *daemon
}

// Etcd is one of the servers of etcd.
type Etcd struct {
	daemon       *daemon
	client, peer string // addresses
}

// The passwords of the documented file.
const (
	patroniSuperuser = "postgres:change-me-1"
	patroniUser      = "duskdb"
	patroniPassword  = "secret"
)

// StartPatroni starts everything by a configuration file, and makes the role of DuskDB.
func StartPatroni(tb testing.TB, config string) *Patroni {
	tb.Helper()
	bin, err := programs()
	if err != nil {
		needs.Missing(tb, "initdb")
	}
	needs.Program(tb, "etcd")
	python, version, err := pythonOf()
	if err != nil {
		tb.Log(err)
		needs.Missing(tb, "python3")
	}
	p := &Patroni{TB: tb, bin: bin, python: python}
	lib, err := packages(tb, python, version)
	if err == nil {
		err = p.prepare(config, lib)
	}
	if err == nil {
		err = p.startAll()
	}
	if err != nil {
		tb.Fatal(err)
	}
	p.AwaitHealthy()
	if err := p.createRole(); err != nil {
		tb.Fatal(err)
	}
	return p
}

// prepare makes the directory, with what the user of PostgreSQL cannot read elsewhere.
func (p *Patroni) prepare(config, lib string) (err error) {
	if p.dir, err = place(); err != nil {
		return err
	}
	end, err := clean(p.dir)
	if err != nil {
		return err
	}
	p.Cleanup(func() {
		if p.Failed() {
			p.tell()
		}
		end()
	})
	text, err := os.ReadFile(config)
	if err != nil {
		return err
	}
	p.config = filepath.Join(p.dir, "patroni.yml")
	if err := os.WriteFile(p.config, text, 0o600); err != nil {
		return err
	}
	if err := own(p.config); err != nil {
		return err
	}
	return os.CopyFS(filepath.Join(p.dir, "python"), os.DirFS(lib))
}

func (p *Patroni) startAll() error {
	for i := range p.Etcd {
		e := &Etcd{}
		for _, address := range []*string{&e.client, &e.peer} {
			port, err := freeport.Claim()
			if err != nil {
				return err
			}
			*address = fmt.Sprintf("127.0.0.1:%d", port)
		}
		p.Etcd[i] = e
	}
	for i, e := range p.Etcd {
		e.daemon = &daemon{dir: p.dir, name: etcdName(i), make: func() *exec.Cmd { return p.etcd(i) }}
		if err := e.daemon.start(); err != nil {
			return err
		}
	}
	for i := range p.Members {
		m, err := p.member(i)
		if err != nil {
			return err
		}
		p.Members[i] = m
		if err := m.daemon.start(); err != nil {
			return err
		}
	}
	return nil
}

func etcdName(i int) string { return fmt.Sprint("etcd", i+1) }

// etcd is the command of a server of etcd, with times for a busy machine.
func (p *Patroni) etcd(i int) *exec.Cmd {
	var all []string
	for n, e := range p.Etcd {
		all = append(all, etcdName(n)+"=http://"+e.peer)
	}
	e := p.Etcd[i]
	return exec.Command("etcd", "--name", etcdName(i), "--data-dir", filepath.Join(p.dir, etcdName(i)),
		"--listen-client-urls", "http://"+e.client, "--advertise-client-urls", "http://"+e.client,
		"--listen-peer-urls", "http://"+e.peer, "--initial-advertise-peer-urls", "http://"+e.peer,
		"--initial-cluster", strings.Join(all, ","), "--heartbeat-interval", "200", "--election-timeout", "2000")
}

// member makes what a member needs to start.
func (p *Patroni) member(i int) (*Member, error) {
	name := fmt.Sprint("db", i+1)
	dir := filepath.Join(p.dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if err := own(dir); err != nil {
		return nil, err
	}
	m := &Member{Name: name, Server: &Server{dir: dir, bin: p.bin}}
	api, err := freeport.Claim()
	if err == nil {
		m.port, err = freeport.Claim()
	}
	if err != nil {
		return nil, err
	}
	m.api = fmt.Sprintf("127.0.0.1:%d", api)
	var hosts []string
	for _, e := range p.Etcd {
		hosts = append(hosts, e.client)
	}
	m.daemon = &daemon{dir: p.dir, name: name, make: func() *exec.Cmd {
		cmd := exec.Command(p.python, "-m", "patroni", p.config)
		cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(p.dir, "python"), "PYTHONDONTWRITEBYTECODE=1", "HOME="+dir,
			"PATRONI_NAME="+name, "PATRONI_ETCD3_HOSTS="+strings.Join(hosts, ","),
			"PATRONI_RESTAPI_LISTEN="+m.api, "PATRONI_RESTAPI_CONNECT_ADDRESS="+m.api,
			"PATRONI_POSTGRESQL_LISTEN="+m.Address(), "PATRONI_POSTGRESQL_CONNECT_ADDRESS="+m.Address(),
			"PATRONI_POSTGRESQL_DATA_DIR="+m.data(), "PATRONI_POSTGRESQL_BIN_DIR="+p.bin)
		return cmd
	}}
	return m, nil
}

// URI is that of the database, with all hosts.
func (p *Patroni) URI() string { return p.uri(patroniUser + ":" + patroniPassword) }

func (p *Patroni) uri(user string) string {
	var hosts []string
	for _, m := range p.Members {
		hosts = append(hosts, m.Address())
	}
	return "postgres://" + user + "@" + strings.Join(hosts, ",") + "/postgres?sslmode=disable&target_session_attrs=read-write"
}

// createRole makes the role of DuskDB, and a table for Writable.
func (p *Patroni) createRole() error {
	ctx, end := context.WithTimeout(context.Background(), standbyTime)
	defer end()
	c, err := pgconn.Connect(ctx, p.uri(patroniSuperuser))
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(ctx) }()
	_, err = c.Exec(ctx, fmt.Sprintf("create role %s login password '%s'; grant create on database postgres to %[1]s; create table written (at timestamptz)", patroniUser, patroniPassword)).ReadAll()
	if err != nil {
		return err
	}
	p.await("all standbys know the role", func() bool {
		for _, m := range p.Members {
			c, err := pgconn.Connect(ctx, "postgres://"+patroniUser+":"+patroniPassword+"@"+m.Address()+"/postgres?sslmode=disable")
			if err != nil {
				return false
			}
			_ = c.Close(ctx)
		}
		return true
	})
	return nil
}

// Writable waits until a write is acknowledged by the database.
func (p *Patroni) Writable() {
	p.Helper()
	p.await("the database takes writes", func() bool {
		ctx, end := context.WithTimeout(context.Background(), time.Second)
		defer end()
		c, err := pgconn.Connect(ctx, p.uri(patroniSuperuser))
		if err != nil {
			return false
		}
		defer func() { _ = c.Close(ctx) }()
		_, err = c.Exec(ctx, "insert into written values (now())").ReadAll()
		return err == nil
	})
}

// Kill ends a Patroni without notice; its PostgreSQL goes on.
func (m *Member) Kill() { m.daemon.kill() }

// Start starts a Patroni again, which starts its PostgreSQL.
func (m *Member) Start() error { return m.daemon.start() }

// Crash kills all processes of PostgreSQL, as the end of its machine does; Patroni starts it
// again, if it is not killed before.
func (m *Member) Crash() error { return m.killProcesses() }

// Kill ends a server of etcd without notice.
func (e *Etcd) Kill() { e.daemon.kill() }

// Start starts a server of etcd again.
func (e *Etcd) Start() error { return e.daemon.start() }

// state is what Patroni knows of a member.
type state struct {
	Name, Role, State string
	Timeline          int
}

// states asks one instance of Patroni after the other until one answers.
func (p *Patroni) states() (list []state) {
	client := http.Client{Timeout: 2 * time.Second}
	for _, m := range p.Members {
		r, err := client.Get("http://" + m.api + "/cluster")
		if err != nil {
			continue
		}
		var reply struct{ Members []state }
		err = json.NewDecoder(r.Body).Decode(&reply)
		_ = r.Body.Close()
		if err == nil && len(reply.Members) > 0 {
			return reply.Members
		}
	}
	return nil
}

// with returns the member with a role, or nil.
func (p *Patroni) with(role string) *Member {
	for _, s := range p.states() {
		if s.Role == role {
			for _, m := range p.Members {
				if m.Name == s.Name {
					return m
				}
			}
		}
	}
	return nil
}

// Leader returns the member that is the primary.
func (p *Patroni) Leader() *Member { return p.must("leader") }

// Synchronous returns the member that is the synchronous standby.
func (p *Patroni) Synchronous() *Member { return p.must("sync_standby") }

func (p *Patroni) must(role string) (m *Member) {
	p.Helper()
	p.await("there is a "+role, func() bool { m = p.with(role); return m != nil })
	return m
}

// AwaitHealthy waits until there is a primary with two standbys, one of them synchronous, and
// all instances know the present state: after an outage of etcd some may have an old one for half
// a minute.
func (p *Patroni) AwaitHealthy() {
	p.Helper()
	p.await("all instances of Patroni know the present state", p.fresh())
	p.await("a primary, a synchronous standby and another one", func() bool {
		list := p.states()
		for _, role := range []string{"leader", "sync_standby", "replica"} {
			i := slices.IndexFunc(list, func(s state) bool { return s.Role == role })
			if i < 0 || list[i].Timeline != list[0].Timeline || list[i].State != "running" && list[i].State != "streaming" {
				return false
			}
		}
		return len(list) == len(p.Members)
	})
}

// fresh reports whether all instances know of a change of the configuration that is made now. Its
// key means nothing to Patroni.
func (p *Patroni) fresh() func() bool {
	client := http.Client{Timeout: 2 * time.Second}
	mark := fmt.Sprint(clock.System().Now().UnixNano())
	changed := false
	return func() bool {
		if !changed {
			r, err := http.NewRequest(http.MethodPatch, "http://"+p.Members[0].api+"/config", strings.NewReader(`{"tests": "`+mark+`"}`))
			if err != nil {
				return false
			}
			reply, err := client.Do(r)
			if err != nil {
				return false
			}
			_ = reply.Body.Close()
			changed = reply.StatusCode == http.StatusOK
		}
		for _, m := range p.Members {
			r, err := client.Get("http://" + m.api + "/config")
			if err != nil {
				return false
			}
			var known struct{ Tests string }
			err = json.NewDecoder(r.Body).Decode(&known)
			_ = r.Body.Close()
			if err != nil || known.Tests != mark {
				return false
			}
		}
		return changed
	}
}

// Switchover makes the synchronous standby the primary, as "patronictl switchover" does.
func (p *Patroni) Switchover() error {
	p.Helper()
	from, to := p.Leader(), p.Synchronous()
	body, err := json.Marshal(map[string]string{"leader": from.Name, "candidate": to.Name})
	if err != nil {
		return err
	}
	client := http.Client{Timeout: standbyTime}
	r, err := client.Post("http://"+from.api+"/switchover", "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer func() { _ = r.Body.Close() }()
	text, _ := io.ReadAll(r.Body)
	if r.StatusCode != http.StatusOK && !strings.Contains(string(text), "unknown") { // it goes on then
		return fmt.Errorf("switchover from %s to %s: %s: %s", from.Name, to.Name, r.Status, text)
	}
	p.await("the switchover from "+from.Name, func() bool { m := p.with("leader"); return m != nil && m != from })
	return nil
}

// patroniTime is how long Patroni may take for something on a busy machine.
const patroniTime = 3 * time.Minute

func (p *Patroni) await(what string, holds func() bool) {
	p.Helper()
	for begun := clock.System().Now(); !holds(); {
		if clock.System().Now().Sub(begun) > patroniTime {
			p.Fatalf("not within %v: %s", patroniTime, what)
		}
		<-clock.System().After(50 * time.Millisecond)
	}
}

// tell logs what the programs wrote last.
func (p *Patroni) tell() {
	p.Logf("Patroni: %+v", p.states())
	for _, m := range p.Members {
		if m != nil {
			p.Logf("%s:\n%s", m.Name, m.daemon.tail(3000))
		}
	}
	for _, e := range p.Etcd {
		if e != nil && e.daemon != nil {
			p.Logf("%s:\n%s", e.daemon.name, e.daemon.tail(1000))
		}
	}
}
