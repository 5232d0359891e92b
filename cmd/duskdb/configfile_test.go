package main

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/commandline"
)

// stockConfig is what the packages of MongoDB 8.0 install as /etc/mongod.conf,
// by its settings.
const stockConfig = `# where to write logging data
storage:
  dbPath: /var/lib/mongodb
#  engine:
#  wiredTiger:
systemLog:
  destination: file
  logAppend: true
  path: /var/log/mongodb/mongod.log
net:
  port: 27017
  bindIp: 127.0.0.1
processManagement:
  timeZoneInfo: /usr/share/zoneinfo
#security:
#operationProfiling:
#replication:
`

func TestStockConfig(t *testing.T) {
	s := parse(t, "--config", writeConfig(t, stockConfig))
	if s.DBPath != "/var/lib/mongodb" || s.LogPath != "/var/log/mongodb/mongod.log" || !s.LogAppend || s.Port != 27017 {
		t.Errorf("%+v", s)
	}
	if !slices.Equal(s.file.ignored, []string{"processManagement.timeZoneInfo"}) {
		t.Errorf("without effect: %v", s.file.ignored)
	}
}

// The command line takes precedence over the environment, and both over the file, also
// where they repeat a default.
func TestConfigPrecedence(t *testing.T) {
	path := writeConfig(t, "net: {port: 5555, bindIp: 10.0.0.2}\nstorage: {dbPath: /data}\nsecurity: {authorization: disabled}")
	t.Setenv("DUSKDB_DBPATH", "duskdb-data")
	s := parse(t, "--config", path, "--port", "27017", "--auth")
	if s.Port != 27017 || s.DBPath != "duskdb-data" || !slices.Equal(s.BindIP, []string{"10.0.0.2"}) || !s.Security.Auth || s.Security.NoAuth {
		t.Errorf("port %d, data in %s, addresses %v, %+v", s.Port, s.DBPath, s.BindIP, s.Security)
	}
}

func TestConfigKeys(t *testing.T) {
	tests := []struct {
		text string
		ok   func(*serveCmd, map[string]string) bool
	}{
		{"", func(s *serveCmd, _ map[string]string) bool { return s.Port == 27017 }},
		{"security:\n", func(s *serveCmd, _ map[string]string) bool { return !s.Security.Auth }},
		{"security: {keyFile: " + "KEY" + "}", func(s *serveCmd, _ map[string]string) bool { return s.Mongod.KeyFile != "" }},
		{"security: {clusterAuthMode: keyFile}", func(s *serveCmd, _ map[string]string) bool { return s.Security.Auth }},
		{"security: {javascriptEnabled: false}", func(s *serveCmd, _ map[string]string) bool { return s.Mongod.NoScripting }},
		{"security: {enableLocalhostAuthBypass: false}", func(_ *serveCmd, p map[string]string) bool { return p["enableLocalhostAuthBypass"] == "false" }},
		{"storage: {syncPeriodSecs: 30, journal: {commitIntervalMs: 50, enabled: true}}", func(_ *serveCmd, p map[string]string) bool {
			return p["syncdelay"] == "30" && p["journalCommitInterval"] == "50"
		}},
		{"storage: {wiredTiger: {engineConfig: {cacheSizeGB: 0.5}, indexConfig: {prefixCompression: true}}}", func(s *serveCmd, _ map[string]string) bool {
			return len(s.file.ignored) == 2
		}},
		{"net: {compression: {compressors: disabled}}", func(s *serveCmd, _ map[string]string) bool {
			return len(s.compressors()) == 0 && s.compressors() != nil
		}},
		{"net: {compression: {compressors: \"zstd,snappy\"}}", func(s *serveCmd, _ map[string]string) bool {
			return slices.Equal(s.compressors(), []string{"zstd", "snappy"})
		}},
		{"net: {unixDomainSocket: {enabled: true, pathPrefix: /run, filePermissions: 0777}}", func(s *serveCmd, _ map[string]string) bool {
			return slices.Equal(s.addresses(), []string{"127.0.0.1", "/run/mongodb-27017.sock"}) && s.SocketMode == 0o777
		}},
		{"net: {unixDomainSocket: {enabled: false}}", func(s *serveCmd, _ map[string]string) bool { return len(s.addresses()) == 1 }},
		{"net: {bindIp: \"*\"}", func(s *serveCmd, _ map[string]string) bool { return slices.Equal(s.addresses(), []string{"0.0.0.0"}) }},
		{"net: {ssl: {mode: requireSSL, PEMKeyFile: s.pem}}", func(s *serveCmd, _ map[string]string) bool {
			return s.Security.TLSMode == "requireTLS" && s.Security.TLSCertificate == "s.pem"
		}},
		{"systemLog: {component: {command: {verbosity: 1}, storage: {journal: {verbosity: 2}}}}", func(_ *serveCmd, p map[string]string) bool {
			return p["logComponentVerbosity"] == `{"command":{"verbosity":1},"storage":{"journal":{"verbosity":2}}}`
		}},
		{"processManagement: {fork: true, pidFilePath: /run/x.pid}", func(s *serveCmd, _ map[string]string) bool {
			return s.Process.Fork && s.Process.PIDFile == "/run/x.pid"
		}},
		{"replication: {replSetName: rs0, oplogSizeMB: 9, enableMajorityReadConcern: true}", func(s *serveCmd, _ map[string]string) bool {
			return s.ReplSet == "rs0" && s.OplogSize == 9
		}},
		{"operationProfiling: {mode: all}", func(s *serveCmd, _ map[string]string) bool { return s.Profile == 2 }},
		{"duskdb: {testClock: true, memoryLimit: 1GB, metricsPort: 9, logFormat: json}", func(s *serveCmd, _ map[string]string) bool {
			return s.TestClock && s.MemoryLimit == "1GB" && s.MetricsPort == 9 && s.LogFormat == "json"
		}},
	}
	key := writeConfig(t, "secretsecret")
	for _, tt := range tests {
		s, err := tryParse(t, "--config", writeConfig(t, strings.ReplaceAll(tt.text, "KEY", key)))
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		params := map[string]string{}
		s.file.apply(params)
		if !tt.ok(s, params) {
			t.Errorf("%s gives %+v, %v", tt.text, s, params)
		}
	}
}

// The messages are mongod's (options_parser.cpp, mongod_options.cpp).
func TestConfigErrors(t *testing.T) {
	for text, want := range map[string]string{
		"net: {prot: 1}":                           "Unrecognized option: net.prot",
		"replication:\nreplSetName: rs0":           "Unrecognized option: replSetName",
		"net: {compression: snappy}":               "Unrecognized option: net.compression",
		"security: {enableEncryption: true}":       "Unrecognized option: security.enableEncryption", // as in Community
		"net: {port: many}":                        `Error parsing option "net.port" as int`,
		"systemLog: {quiet: loud}":                 "Expected boolean but found string: loud for option: systemLog.quiet",
		"security: {authorization: yes}":           `security.authorization expects either "enabled" or "disabled"`,
		"operationProfiling: {mode: some}":         "Bad value for operationProfiling.mode: some",
		"systemLog: {destination: syslog}":         "syslog is not supported",
		"sharding: {clusterRole: shardsvr}":        "sharding.clusterRole is not supported: DuskDB has no sharding",
		"net: {port: 1, port: 2}":                  "Duplicate option: net.port",
		"setParameter: [1]":                        "Option: setParameter is of type StringMap",
		"net: {maxIncomingConnectionsOverride: 1}": "is not a list type",
		"net: [":                               "Error parsing YAML config file",
		"text":                                 "Error parsing INI config file: the options configuration file contains an invalid line 'text'",
		"[a, b]":                               "No map found at top level of YAML config",
		"\"\": 1":                              "Found empty key in YAML config file",
		"net: {bindIp: [127.0.0.1, 10.0.0.2]}": "Scalar option 'net.bindIp' must be a single value",
		"net: {port: {a: 1}}":                  "Scalar option 'net.port' must be a single value",
		"storage: {engine: mmapv1}":            "mmapv1",
	} {
		_, err := tryParse(t, "--config", writeConfig(t, text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "struct") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// The form that mongod had before YAML: names of the command line, comments, and booleans in
// several spellings.
func TestINI(t *testing.T) {
	key := writeConfig(t, "secretsecret")
	s := parse(t, "--config", writeConfig(t, `# mongodb.conf
dbpath=/var/lib/mongodb
# where to log
logpath=/var/log/mongodb/mongodb.log
logappend=true

bind_ip = 127.0.0.1,10.0.0.2   # all of them
port = 27018
journal=true
noauth = false
keyFile=`+key+`
fork = yes
replSet = rs0
oplogSize = 9
vvv = true
setParameter = ttlMonitorSleepSecs=5
setParameter = notablescan=true
syncdelay = 30
sslMode = requireSSL
sslPEMKeyFile = s.pem
nounixsocket = on
consolePort = 0
`))
	params := map[string]string{}
	s.file.apply(params)
	if s.DBPath != "/var/lib/mongodb" || s.LogPath != "/var/log/mongodb/mongodb.log" || !s.LogAppend || s.Port != 27018 || s.Mongod.KeyFile != key ||
		!s.Process.Fork || s.ReplSet != "rs0" || s.OplogSize != 9 || s.Verbose != 3 || s.Security.TLSMode != "requireTLS" || s.Security.TLSCertificate != "s.pem" {
		t.Errorf("%+v", s)
	}
	if !slices.Equal(s.addresses(), []string{"127.0.0.1", "10.0.0.2"}) {
		t.Errorf("addresses %v", s.addresses())
	}
	if params["ttlMonitorSleepSecs"] != "5" || params["notablescan"] != "true" || params["syncdelay"] != "30" || !slices.Equal(s.file.ignored, []string{"journal", "nounixsocket"}) {
		t.Errorf("%v, without effect %v", params, s.file.ignored)
	}
	if s := parse(t, "--config", writeConfig(t, "port=5\nauth=true"), "--port", "6"); s.Port != 6 || !s.Security.Auth {
		t.Errorf("%+v", s)
	}
	for text, want := range map[string]string{
		"smallfiles=true":          "Error parsing INI config file: unrecognised option 'smallfiles'",
		"port=1\n=2":               "Error parsing INI config file: unrecognised option ''",
		"auth=perhaps":             "the argument ('perhaps') for option 'auth' is invalid",
		"nojournal=true":           "nojournal is not supported: the log is always written",
		"port=1\nfork":             "contains an invalid line 'fork'",
		"setParameter=notablescan": `Illegal option assignment: "notablescan"`,
		"port=many":                "port",
	} {
		if _, err := tryParse(t, "--config", writeConfig(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Every option of the table is accepted in its forms, or refused with a reason: no option
// is unknown.
func TestAllOptionsOfMongod(t *testing.T) {
	values := map[kind]string{boolean: "true", integer: "1", number: "1.5", text: "x", list: "[a]", mapping: "{}"}
	for _, o := range mongodOptions {
		if o.use != served && o.note == "" {
			t.Errorf("%s%s has no reason", o.key, o.flag)
		}
		if o.key != "" {
			doc := values[o.kind]
			for part := range slices.Values(reversed(strings.Split(o.key, "."))) {
				doc = "{" + part + ": " + doc + "}"
			}
			if _, err := readConfig(strings.NewReader(doc)); err != nil && strings.Contains(err.Error(), "Unrecognized") {
				t.Errorf("%s: %v", o.key, err)
			}
		}
		if o.flag != "" {
			if err := hasFlag(t, o.flag); err != nil {
				t.Error(err)
			}
		}
	}
}

func reversed(s []string) []string {
	slices.Reverse(s)
	return s
}

func hasFlag(t *testing.T, name string) error {
	t.Helper()
	for _, c := range describe(&cli{}).Commands {
		if c.Name == "serve" && slices.ContainsFunc(c.Flags, func(f *commandline.Flag) bool { return f.Name == name }) {
			return nil
		}
	}
	return errors.New("serve has no flag --" + name)
}

func TestExtraFlags(t *testing.T) {
	s := parse(t, "--syncdelay", "30", "--notablescan", "--timeZoneInfo", "/usr/share/zoneinfo", "--journal", "--clusterAuthMode", "keyFile")
	params := map[string]string{"syncdelay": "7"}
	without, err := s.extra.apply(params)
	if err != nil || params["syncdelay"] != "7" || params["notablescan"] != "true" ||
		!slices.Equal(without, []string{"--timeZoneInfo", "--clusterAuthMode", "--journal"}) {
		t.Errorf("%v, %v, %v", params, without, err)
	}
	s = parse(t, "--shardsvr")
	if _, err := s.extra.apply(params); err == nil || !strings.Contains(err.Error(), "DuskDB has no sharding") {
		t.Errorf("--shardsvr: %v", err)
	}
}

// commandLineOnly are flags of DuskDB's own that make no sense in a file.
var commandLineOnly = []string{"help", "config"}

// Every flag of the server can be set in the file, and the table knows it.
func TestAllFlagsHaveAKey(t *testing.T) {
	for _, c := range describe(&cli{}).Commands {
		if c.Name != "serve" {
			continue
		}
		for _, f := range c.Flags {
			known := slices.Contains(commandLineOnly, f.Name)
			for _, table := range [][]option{mongodOptions, duskdbKeys} {
				known = known || slices.ContainsFunc(table, func(o option) bool { return o.flag == f.Name })
			}
			if !known {
				t.Errorf("--%s is in no table of options", f.Name)
			}
		}
	}
}
