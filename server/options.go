package server

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/plain"
)

// OptionError is the error of [New] for a Config that has something wrong, whatever the state of
// the machine is.
type OptionError struct{ cause error }

func (e *OptionError) Error() string { return e.cause.Error() }

// Unwrap returns the reason.
func (e *OptionError) Unwrap() error { return e.cause }

// readConfig checks all options that can be checked before anything is opened, and applies
// those that New needs. It returns the memory limit.
func (s *Server) readConfig() (memory int64, err error) {
	cfg := &s.config
	var ok bool
	if s.dialect, ok = dialect.Speak(cfg.MongoDBVersion); !ok {
		return 0, fmt.Errorf("the version of MongoDB is %q, not one of %s", cfg.MongoDBVersion, strings.Join(dialect.Releases(), ", "))
	}
	if err := cfg.checkNumbers(); err != nil {
		return 0, err
	}
	if err := cfg.readTestClock(); err != nil {
		return 0, err
	}
	if memory, err = parseMemory(cfg.MemoryLimit, machineMemory()); err != nil {
		return 0, err
	}
	if 0 < memory && memory < 1<<20 { // a number without its unit
		return 0, fmt.Errorf("memoryLimit must be at least 1MB, not %q: give the unit, such as 2GB", cfg.MemoryLimit)
	}
	if _, err := cfg.cacheBytes(); err != nil {
		return 0, err
	}
	if err := s.openClock(clock.System()); err != nil {
		return 0, err
	}
	if s.endpoints, err = s.resolve(); err != nil {
		return 0, err
	}
	if err := s.checkURI(); err != nil {
		return 0, err
	}
	s.certificates, err = openTLS(cfg.TLS)
	return memory, err
}

// compressors are those that Config.Compressors can name.
var compressors = []string{"snappy", "zlib", "zstd"}

// checkNumbers checks the options that are numbers or have some in them, and the names of
// compressors.
func (c *Config) checkNumbers() error {
	for _, port := range []struct {
		name string
		n    int
	}{{"port", c.Port}, {"metricsPort", c.MetricsPort}, {"consolePort", c.ConsolePort}} {
		if port.n > 65535 {
			return fmt.Errorf("%s must be at most 65535, not %d", port.name, port.n)
		}
	}
	if c.MaxConns < 0 {
		return fmt.Errorf("maxConns must be at least 0, not %d", c.MaxConns)
	}
	if !(c.OplogMinRetentionHours >= 0) {
		return fmt.Errorf("oplogMinRetentionHours must be at least 0, not %v", c.OplogMinRetentionHours)
	}
	if c.AdvertiseHost != "" {
		_, port, err := net.SplitHostPort(c.AdvertiseHost)
		if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || n == 0 {
			return fmt.Errorf("advertiseHost must be host:port, such as db.example:27017, not %q", c.AdvertiseHost)
		}
	}
	for _, name := range c.Compressors {
		if !slices.Contains(compressors, name) {
			return fmt.Errorf("networkMessageCompressors must be of %s, or disabled, not %q", strings.Join(compressors, ", "), name)
		}
	}
	return nil
}

// asOption makes the error of a bad value of a parameter, or of a bad URI, that of an option.
func asOption(err error) error {
	var bad *mongoerr.Error
	var uri interface{ BadURI() }
	if errors.As(err, &bad) && bad.Code == mongoerr.BadValue || errors.As(err, &uri) {
		return &OptionError{err}
	}
	return err
}

// truth reads a parameter that is true or false.
func truth(name, text string) (bool, error) {
	on, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("the parameter %s must be true or false but got %q", name, text)
	}
	return on, nil
}

// listenFlags are the flags that choose a port and an address. A socket has neither.
type listenFlags struct{ port, address string }

// cannotListen is the error of an address on which nothing can be served, with what to do.
func cannotListen(what string, flags listenFlags, err error) error {
	advice := ""
	switch socket := flags.port == ""; {
	case socket && errors.Is(err, syscall.EADDRINUSE):
		advice = "; end the program that uses it"
	case socket && errors.Is(err, syscall.EACCES):
		advice = "; this user must be able to write to its directory"
	case errors.Is(err, syscall.EADDRINUSE):
		advice = "; end the program that uses it, or choose another port with " + flags.port
	case errors.Is(err, syscall.EACCES):
		advice = "; choose a port above 1023 with " + flags.port
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		advice = "; choose an address of this machine with " + flags.address
	}
	return fmt.Errorf("%s: %w%s", what, &listenError{err}, advice)
}

// listenError is the error of a listener in plain words.
type listenError struct{ cause error }

func (e *listenError) Error() string { return plain.Text(e.cause) }

// Unwrap returns the error of the system.
func (e *listenError) Unwrap() error { return e.cause }
