package server

import (
	"context"
	"errors"
	"math"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/freeport"
)

// A Config that no server can start with is refused with an OptionError, which says what is wrong.
func TestOptionErrors(t *testing.T) {
	for want, cfg := range map[string]Config{
		"port must be at most 65535, not 65536":                                              {Port: 65536},
		"metricsPort must be at most 65535, not 65536":                                       {MetricsPort: 65536},
		"consolePort must be at most 65535, not 65536":                                       {ConsolePort: 65536},
		"maxConns must be at least 0, not -1":                                                {MaxConns: -1},
		"oplogMinRetentionHours must be at least 0, not NaN":                                 {OplogMinRetentionHours: math.NaN()},
		`advertiseHost must be host:port, such as db.example:27017, not "db.example"`:        {AdvertiseHost: "db.example"},
		`advertiseHost must be host:port, such as db.example:27017, not "h:0"`:               {AdvertiseHost: "h:0"},
		`networkMessageCompressors must be of snappy, zlib, zstd, or disabled, not "brotli"`: {Compressors: []string{"brotli"}},
		`the version of MongoDB is "7.0", not one of`:                                        {MongoDBVersion: "7.0"},
		`memoryLimit must be at least 1MB, not "2": give the unit`:                           {MemoryLimit: "2"},
		"memoryLimit must be bytes":                                                          {MemoryLimit: "lots"},
		"cacheSize must be bytes":                                                            {CacheSize: "lots"},
		"Unknown --setParameter 'nosuch'":                                                    {Parameters: map[string]string{"nosuch": "1"}},
		`the parameter enableTestClock must be true or false but got "perhaps"`:              {Parameters: map[string]string{"enableTestClock": "perhaps"}},
		"need tlsCertificateKeyFile when TLS is enabled":                                     {TLS: TLS{Mode: TLSRequire}},
	} {
		if cfg.Port == 0 {
			cfg.Port = -1
		}
		cfg.DBPath = Memory
		srv, err := New(cfg)
		var option *OptionError
		if err == nil {
			_ = srv.Close(context.Background())
		}
		if !errors.As(err, &option) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A port that is taken is no wrong option; the message says so once, and what to do.
func TestPortInUse(t *testing.T) {
	port := freeport.For(t)
	l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = New(Config{Port: port, DBPath: Memory})
	want := "cannot listen on 127.0.0.1 port " + strconv.Itoa(port) + ": address already in use; end the program that uses it, or choose another port with --port"
	var option *OptionError
	if err == nil || err.Error() != want || errors.As(err, &option) {
		t.Errorf("%v, want %s", err, want)
	}
}
