package main

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"gopkg.in/yaml.v3"
)

// configFile is the part of mongod's configuration that DuskDB knows. Keys
// it does not know are refused, so that no setting is silently ignored.
type configFile struct {
	Net struct {
		Port      *int    `yaml:"port"`
		BindIP    *string `yaml:"bindIp"`
		BindIPAll bool    `yaml:"bindIpAll"`
		MaxConns  *int    `yaml:"maxIncomingConnections"`
		TLS       tlsFile `yaml:"tls"`
	} `yaml:"net"`
	Security struct {
		Authorization string `yaml:"authorization"`
		KeyFile       string `yaml:"keyFile"`
	} `yaml:"security"`
	Replication struct {
		ReplSet   string `yaml:"replSetName"`
		OplogSize int    `yaml:"oplogSizeMB"`
	} `yaml:"replication"`
	Storage   storageFile `yaml:"storage"`
	SystemLog struct {
		Path        *string `yaml:"path"`
		LogAppend   bool    `yaml:"logAppend"`
		LogRotate   string  `yaml:"logRotate"`
		Destination string  `yaml:"destination"`
		Quiet       bool    `yaml:"quiet"`
		Verbosity   *int    `yaml:"verbosity"`
	} `yaml:"systemLog"`
	Profiling    profilingFile  `yaml:"operationProfiling"`
	SetParameter map[string]any `yaml:"setParameter"`
	DuskDB       struct {
		TestClock bool   `yaml:"testClock"`
		LogFormat string `yaml:"logFormat"`

		MemoryLimit string `yaml:"memoryLimit"`
		MetricsPort int    `yaml:"metricsPort"`
	} `yaml:"duskdb"`
}

// storageFile is the section storage.
type storageFile struct {
	DBPath     *string `yaml:"dbPath"`
	Engine     string  `yaml:"engine"`
	OplogHours float64 `yaml:"oplogMinRetentionHours"`
}

// profilingFile is the section operationProfiling.
type profilingFile struct {
	Mode       string   `yaml:"mode"`
	SlowMS     *int64   `yaml:"slowOpThresholdMs"`
	SampleRate *float64 `yaml:"slowOpSampleRate"`
}

// profilingModes are the levels of the profiler by their names in the file.
var profilingModes = map[string]int{"": 0, "off": 0, "slowOp": 1, "all": 2}

// applyConfig fills what the command line left at its default from the
// configuration file.
func (s *serveCmd) applyConfig() error {
	if s.Config == "" {
		return nil
	}
	f, err := os.Open(s.Config)
	if err != nil {
		return err
	}
	defer f.Close()
	var c configFile
	d := yaml.NewDecoder(f)
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil {
		return fmt.Errorf("%s: %w", s.Config, err)
	}
	if _, known := profilingModes[c.Profiling.Mode]; !known {
		return fmt.Errorf("%s: bad value for operationProfiling.mode: %s", s.Config, c.Profiling.Mode)
	}
	s.merge(&c)
	if err := s.Mongod.merge(&c); err != nil {
		return fmt.Errorf("%s: %w", s.Config, err)
	}
	return nil
}

func (s *serveCmd) merge(c *configFile) {
	if c.Net.Port != nil && s.Port == 27017 {
		s.Port = *c.Net.Port
	}
	if c.Net.BindIP != nil && slices.Equal(s.BindIP, []string{"127.0.0.1"}) {
		s.BindIP = []string{*c.Net.BindIP}
	}
	s.BindIPAll = s.BindIPAll || c.Net.BindIPAll
	if c.Net.MaxConns != nil && s.MaxConns == 0 {
		s.MaxConns = *c.Net.MaxConns
	}
	if c.Replication.ReplSet != "" && s.ReplSet == "" {
		s.ReplSet = c.Replication.ReplSet
	}
	if s.OplogSize == 0 {
		s.OplogSize = c.Replication.OplogSize
	}
	if s.OplogHours == 0 {
		s.OplogHours = c.Storage.OplogHours
	}
	if c.Storage.DBPath != nil && s.DBPath == "duskdb-data" {
		s.DBPath = *c.Storage.DBPath
	}
	if c.SystemLog.Path != nil && s.LogPath == "" {
		s.LogPath = *c.SystemLog.Path
	}
	s.LogAppend = s.LogAppend || c.SystemLog.LogAppend
	if c.SystemLog.LogRotate != "" && s.LogRotate == "rename" {
		s.LogRotate = c.SystemLog.LogRotate
	}
	s.Quiet = s.Quiet || c.SystemLog.Quiet
	if c.SystemLog.Verbosity != nil && s.Verbose == 0 {
		s.Verbose = *c.SystemLog.Verbosity
	}
	for _, name := range slices.Sorted(maps.Keys(c.SetParameter)) {
		s.SetParameter = append([]string{fmt.Sprintf("%s=%v", name, c.SetParameter[name])}, s.SetParameter...)
	}
	s.Security.merge(c)
	s.mergeProfiling(&c.Profiling)
	s.TestClock = s.TestClock || c.DuskDB.TestClock
	if c.DuskDB.MemoryLimit != "" && s.MemoryLimit == "80%" {
		s.MemoryLimit = c.DuskDB.MemoryLimit
	}
	if s.MetricsPort == 0 {
		s.MetricsPort = c.DuskDB.MetricsPort
	}
	if c.DuskDB.LogFormat != "" && s.LogFormat == "auto" {
		s.LogFormat = c.DuskDB.LogFormat
	}
}

func (s *serveCmd) mergeProfiling(c *profilingFile) {
	if s.Profile == 0 {
		s.Profile = profilingModes[c.Mode]
	}
	if c.SlowMS != nil && s.SlowMS == 100 {
		s.SlowMS = *c.SlowMS
	}
	if c.SampleRate != nil && s.SlowSample == 1 {
		s.SlowSample = *c.SampleRate
	}
}

func sortedNames(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
