package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/internal/commandline"
	"github.com/duskdb/duskdb/server"
	"github.com/duskdb/duskdb/value"
)

// serveCmd runs the server. The names of the flags are mongod's.
type serveCmd struct {
	Port         int        `group:"Network" range:"0,65535" default:"27017" help:"Port to listen on; 0: any free port."`
	BindIP       []string   `group:"Network" name:"bind_ip" default:"127.0.0.1" help:"Addresses and host names to listen on, comma separated."`
	IPv6         bool       `group:"Network" name:"ipv6" env:"DUSKDB_IPV6" help:"Host names in bind_ip stand for their IPv6 addresses, too."`
	BindIPAll    bool       `group:"Network" name:"bind_ip_all" help:"Listen on all addresses."`
	DBPath       string     `group:"Data" name:"dbpath" default:"duskdb-data" help:"Data directory, or :memory:."`
	SetParameter []string   `name:"setParameter" sep:"none" help:"Server parameter, name=value. May be repeated."`
	TestClock    bool       `group:"Tests" name:"test-clock" help:"Let clients move the server's clock (testClock)."`
	WithStdin    bool       `group:"Tests" name:"exit-with-stdin" help:"Stop when standard input is closed, which happens when the program that started the server exits."`
	MaxConns     int        `group:"Network" range:"0," name:"maxConns" default:"0" help:"Maximum number of open connections; 0: no limit."`
	MongoDB      string     `group:"Tests" name:"mongodbVersion" enum:"8.2,8.0" default:"8.2" help:"Version of MongoDB to behave as: what it reports, its features and its errors."`
	ReplSet      string     `group:"Replica set" name:"replSet" help:"Run as a single-member replica set with this name."`
	Advertise    string     `group:"Replica set" name:"advertiseHost" help:"host:port that the replica set reports to clients as its member; default: the address they connected to."`
	OplogSize    int        `group:"Data" range:"0," name:"oplogSize" default:"0" help:"Size of the change log in MB; default 64, or 4 until a client first reads it."`
	OplogHours   float64    `group:"Data" range:"0," name:"oplogMinRetentionHours" default:"0" help:"Hours to keep entries of the change log, even if it is full."`
	MemoryLimit  string     `group:"Data" name:"memoryLimit" default:"80%" help:"Memory limit of the data: bytes, 512MB, a percentage of the machine's or container's memory, or none. Writes beyond it fail; reads and deletes still work."`
	MetricsPort  int        `group:"Monitoring and console" range:"0,65535" name:"metricsPort" default:"0" help:"Port for /metrics, /healthz and /readyz, over HTTP and without login; 0: off."`
	MetricsBind  string     `group:"Monitoring and console" name:"metricsBindIp" default:"127.0.0.1" help:"Address to serve metrics on."`
	MetricsPprof bool       `group:"Monitoring and console" name:"metricsPprof" help:"Also serve profiles of the process under /debug/pprof."`
	ConsolePort  int        `group:"Monitoring and console" range:"-1,65535" name:"consolePort" default:"-1" help:"Port of the web console; 0: off; default: with --test-clock a free port, which the start-up lines name, else off."`
	ConsoleBind  string     `group:"Monitoring and console" name:"consoleBindIp" default:"127.0.0.1" help:"Address to serve the console on."`
	ConsoleHosts []string   `group:"Monitoring and console" name:"consoleHost" help:"Further host names of the console, comma separated; it refuses requests to names that it does not know."`
	ConsoleRead  bool       `group:"Monitoring and console" name:"consoleReadOnly" help:"Let the console run only commands that read."`
	Repair       bool       `group:"Data" help:"Salvage the readable part of damaged data instead of refusing to start. The damaged file is kept."`
	InitDB       string     `group:"Data" name:"initdb" help:"Directory of .json, .ndjson, .csv and .bson files to import at the first start on an empty data directory, each into the collection of its name, in the database of MONGO_INITDB_DATABASE or test."`
	LogPath      string     `group:"Log" name:"logpath" help:"File to log to; default: standard error."`
	LogAppend    bool       `group:"Log" name:"logappend" help:"Append to the log file instead of starting a new one."`
	LogRotate    string     `group:"Log" name:"logRotate" enum:"rename,reopen" default:"rename" help:"What logRotate and SIGUSR1 do with the log file: rename adds the time to the old file's name; reopen opens the file again after another program has renamed it."`
	LogFormat    string     `group:"Log" name:"logFormat" enum:"auto,console,json,mongod" default:"auto" help:"Format of the log: console for people; json; mongod, the JSON of mongod's log, for programs that read that; auto: console on a terminal, else json."`
	Quiet        bool       `group:"Log" help:"Log warnings and errors only."`
	Verbose      int        `group:"Log" range:"0,5" name:"verbose" default:"0" help:"Verbosity of the log, 0 to 5, as the parameter logLevel. Also -v, -vv, …"`
	Profile      int        `group:"Monitoring and console" range:"0,2" name:"profile" default:"0" help:"Profiling of every database: 0 off, 1 slow operations, 2 all."`
	SlowMS       int64      `group:"Monitoring and console" name:"slowms" default:"100" help:"Threshold of slow operations in milliseconds, for the profiler and the log."`
	SlowSample   float64    `group:"Monitoring and console" range:"0,1" name:"slowOpSampleRate" default:"1" help:"Fraction of the slow operations that are profiled and logged, 0 to 1."`
	Security     security   `embed:"" group:"Access and TLS"`
	Process      process    `embed:"" group:"Process"`
	Mongod       likeMongod `embed:""`
	Compressors  string     `group:"Network" name:"networkMessageCompressors" default:"snappy,zstd,zlib" help:"Compressors for messages, comma separated: snappy, zstd, zlib; or disabled."`
	SocketPrefix string     `group:"Network" name:"unixSocketPrefix" help:"Directory of a Unix socket, mongodb-PORT.sock; default: no socket."`
	SocketMode   int        `group:"Network" range:"0,0777" name:"filePermissions" default:"0700" help:"Permissions of the socket."`
	Config       string     `short:"f" type:"existingfile" help:"Configuration file, in mongod's YAML form or its older one, name = value."`

	Extra any `embed:""` // the struct of extra
	extra *extraFlags
	file  *configFile // nil: none

	misspelt []string // warnings about variables
}

// newServe returns the command with all flags of mongod.
func newServe() serveCmd {
	extra := newExtraFlags(commandline.FlagNames(&serveCmd{}))
	return serveCmd{extra: extra, Extra: extra.fields.Interface()}
}

func serverVersion() string { return server.MongoDBVersion }

// applyExtra adds the parameters of the configuration file and of flags that
// stand for one, and logs what has no effect.
func (s *serveCmd) applyExtra(params map[string]string, log zerolog.Logger) error {
	var without []string
	if s.extra != nil {
		var err error
		if without, err = s.extra.apply(params); err != nil {
			return err
		}
	}
	if s.file != nil {
		s.file.apply(params)
		without = append(without, s.file.ignored...)
	}
	if len(without) > 0 {
		log.Warn().Strs("options", without).Msg("Options without effect")
	}
	return nil
}

// consolePort is the port of the console: 0 off, -1 a free one.
func (s *serveCmd) consolePort() int {
	if s.ConsolePort < 0 && !s.TestClock {
		return 0
	}
	return s.ConsolePort
}

// compressors are the names in --networkMessageCompressors.
func (s *serveCmd) compressors() []string {
	if s.Compressors == "disabled" {
		return []string{}
	}
	return split(s.Compressors)
}

// addresses are those to listen on, and the socket in the file system.
func (s *serveCmd) addresses() []string {
	var out []string
	for _, a := range s.BindIP {
		for _, part := range strings.Split(a, ",") {
			switch part = strings.TrimSpace(part); {
			case part == "*":
				out = append(out, "0.0.0.0")
			case part != "":
				out = append(out, part)
			}
		}
	}
	if s.BindIPAll {
		out = []string{"0.0.0.0"}
	}
	if s.SocketPrefix != "" {
		path := filepath.Join(s.SocketPrefix, fmt.Sprintf("mongodb-%d.sock", s.Port))
		if full, err := filepath.Abs(path); err == nil {
			path = full // without a slash at its beginning it is the name of a host
		}
		out = append(out, path)
	}
	return out
}

func parseParameters(given []string) (map[string]string, error) {
	params := map[string]string{}
	for _, p := range given {
		name, v, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, errors.New("--setParameter needs name=value, not " + p)
		}
		if before, given := params[name]; given && before != v {
			return nil, fmt.Errorf("Key Value Option: setParameter has a duplicate key from the same source: %s", name)
		}
		params[name] = v
	}
	return params, nil
}

// parsed returns the configuration in the form of getCmdLineOpts.
func (s *serveCmd) parsed(params map[string]string) value.Doc {
	b := value.NewBuilder()
	b.StartDocument("net").Int32("port", int32(s.Port)).String("bindIp", strings.Join(s.addresses(), ",")).End()
	b.StartDocument("storage").String("dbPath", s.dir()).String("engine", s.Mongod.StorageEngine).End()
	if s.Mongod.CacheSize != "" {
		b.StartDocument("duskdb").String("cacheSize", s.Mongod.CacheSize).End()
	}
	s.Security.appendParsed(b)
	if s.Config != "" {
		b.String("config", s.Config)
	}
	if len(params) > 0 {
		b.StartDocument("setParameter")
		for _, name := range sortedNames(params) {
			b.String(name, params[name])
		}
		b.End()
	}
	return b.Doc()
}
