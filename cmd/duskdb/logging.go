package main

import (
	"io"
	"os"

	"github.com/rs/zerolog"
	"golang.org/x/term"
)

// logger opens the log: readable on a terminal, JSON lines otherwise. What is
// logged also goes to lines, as JSON.
func (s *serveCmd) logger(lines io.Writer) (zerolog.Logger, func(), error) {
	var out io.Writer = os.Stderr
	closeLog := func() {}
	terminal := term.IsTerminal(int(os.Stderr.Fd()))
	if s.LogPath != "" {
		mode := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
		if s.LogAppend {
			mode = os.O_CREATE | os.O_WRONLY | os.O_APPEND
		}
		f, err := os.OpenFile(s.LogPath, mode, 0o600)
		if err != nil {
			return zerolog.Nop(), closeLog, err
		}
		out, terminal = f, false
		closeLog = func() { _ = f.Close() }
	}
	if s.LogFormat == "console" || s.LogFormat == "auto" && terminal {
		out = zerolog.ConsoleWriter{Out: out, NoColor: !terminal}
	}
	level := zerolog.InfoLevel
	switch {
	case s.Quiet:
		level = zerolog.WarnLevel
	case s.Verbose > 2:
		level = zerolog.TraceLevel
	case s.Verbose > 0:
		level = zerolog.DebugLevel
	}
	return zerolog.New(zerolog.MultiLevelWriter(out, lines)).Level(level).With().Timestamp().Logger(), closeLog, nil
}
