package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/duskdb/duskdb/internal/transfer"
	"github.com/duskdb/duskdb/value"
)

// remote are the flags that say which server a command works with: a
// connection string, or its parts as MongoDB's tools take them. The parts have no
// variables: DUSKDB_PORT is the server's.
type remote struct {
	URI      string        `name:"uri" unless:"host,port,username,password,authenticationDatabase" help:"Connection string: mongodb://user:password@host:port/database?options; default: mongodb://127.0.0.1:27017."`
	Host     string        `env:"-" help:"Server, host or host:port, instead of --uri."`
	Port     int           `range:"1,65535" env:"-" help:"Port of --host."`
	User     string        `name:"username" short:"u" env:"-" help:"User to log in as."`
	Password string        `name:"password" short:"p" env:"-" help:"Password of the user."`
	AuthDB   string        `name:"authenticationDatabase" env:"-" help:"Database of the user; default: that of --db, or admin."`
	Timeout  time.Duration `default:"10s" help:"Timeout of the connection."`
}

// dial connects, and finds the name of the database.
func (r *remote) dial(db string) (*transfer.Conn, string, error) {
	uri, err := r.address(db)
	if err != nil {
		return nil, "", usageError{err}
	}
	c, err := transfer.Dial(uri, r.Timeout)
	if err != nil {
		return nil, "", err
	}
	return c, cmp.Or(db, c.Database, "test"), nil
}

// address is the connection string.
func (r *remote) address(db string) (string, error) {
	if r.URI != "" {
		if r.Host != "" || r.Port != 0 || r.User != "" || r.Password != "" || r.AuthDB != "" {
			return "", errors.New("--uri cannot be used with --host, --port, --username, --password or --authenticationDatabase")
		}
		return r.URI, nil
	}
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		host, port = r.Host, strconv.Itoa(cmp.Or(r.Port, 27017))
	} else if r.Port != 0 && port != strconv.Itoa(r.Port) {
		return "", fmt.Errorf("--host says port %s and --port %d", port, r.Port)
	}
	u := url.URL{Scheme: "mongodb", Host: net.JoinHostPort(strings.Trim(cmp.Or(host, "127.0.0.1"), "[]"), port), Path: "/"}
	if r.User != "" {
		u.User = url.UserPassword(r.User, r.Password)
		u.RawQuery = url.Values{"authSource": {cmp.Or(r.AuthDB, db, "admin")}}.Encode()
	} else if r.Password != "" || r.AuthDB != "" {
		return "", errors.New("--password and --authenticationDatabase need --username")
	}
	return u.String(), nil
}

// open opens a file and says how large it is; "" is [standardInput].
func open(name, bytes string) (io.ReadCloser, int64, error) {
	if name == "" {
		in, err := standardInput(bytes)
		return io.NopCloser(in), -1, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a directory; use --dump for a directory of mongodump", name)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// parseFlag reads a document on the command line, or nil.
func parseFlag(name, text string) (value.Doc, error) {
	if text == "" {
		return nil, nil
	}
	d, err := value.ParseJSON(text)
	if err != nil {
		return nil, fmt.Errorf(`%s must be a document in extended JSON, such as {"a": 1}, but got %s`, name, text)
	}
	return d, nil
}

// fieldsOf is the names of fields, from the flag or from the lines of a file.
func fieldsOf(names []string, file string) ([]string, error) {
	if file == "" {
		return names, nil
	}
	if len(names) > 0 {
		return nil, errors.New("--fields and --fieldFile cannot be used together")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if name := strings.TrimSpace(line); name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}
