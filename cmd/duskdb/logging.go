package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/rs/zerolog"
	"golang.org/x/term"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/server"
)

// logFile is a log in a file that can be rotated. It is safe for concurrent
// use.
type logFile struct {
	path   string
	rename bool // the old file gets another name; else it is opened again
	made   bool // there was no file when it was opened

	mu   sync.Mutex
	file *os.File
	mode os.FileMode // mode of new files
}

const appendToLog = os.O_CREATE | os.O_WRONLY | os.O_APPEND

func openLogFile(path string, appending, rename bool) (*logFile, error) {
	mode := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if appending {
		mode = appendToLog
	}
	_, missing := os.Stat(path)
	f, err := os.OpenFile(path, mode, ownLog)
	return &logFile{path: path, rename: rename, made: missing != nil, file: f, mode: ownLog}, err
}

// ownLog is the mode of a log that its owner alone may read.
const ownLog = 0o600

// allow sets the mode of a new log file, which was opened before the
// parameters were read. The mode of an existing file is not changed.
func (l *logFile) allow(mode os.FileMode) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mode = mode
	if !l.made || mode == ownLog {
		return nil
	}
	return l.file.Chmod(mode)
}

// Write appends to the log.
func (l *logFile) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Write(b)
}

// rotate starts a new file. The time is added to the name of the old one, as
// in mongod; or the path is opened again after another program, such as
// logrotate, has renamed the old file.
func (l *logFile) rotate() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rename {
		old := l.path + "." + clock.System().Now().UTC().Format("2006-01-02T15-04-05")
		if _, err := os.Lstat(old); err == nil {
			return fmt.Errorf("%s exists", old)
		}
		if err := os.Rename(l.path, old); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(l.path, appendToLog, l.mode)
	if err != nil {
		return err // the open file stays in use
	}
	_ = l.file.Close()
	l.file = f
	return nil
}

// logger opens the log: readable on a terminal, JSON lines otherwise. All
// lines also go to lines, as JSON, in mongod's form if the log has it. The file is nil if
// the log goes to standard error.
func (s *serveCmd) logger(lines io.Writer, limit *server.LogLimit) (zerolog.Logger, *logFile, error) {
	if s.file != nil && s.file.toFile && s.LogPath == "" {
		return zerolog.Nop(), nil, usageError{fmt.Errorf("%s: systemLog.destination: file needs systemLog.path, the path of the file", s.Config)}
	}
	var out io.Writer = os.Stderr
	var file *logFile
	terminal := term.IsTerminal(int(os.Stderr.Fd()))
	if s.LogPath != "" {
		var err error
		if file, err = openLogFile(s.LogPath, s.LogAppend, s.LogRotate == "rename"); err != nil {
			return zerolog.Nop(), nil, usageError{fmt.Errorf("--logpath: %w", err)}
		}
		out, terminal = file, false
	}
	zerolog.TimeFieldFormat = timeFormat
	switch {
	case s.LogFormat == logMongod:
		out, lines = mongodLog{out, s.Port}, mongodLog{lines, s.Port}
	case s.LogFormat == "console" || s.LogFormat == "auto" && terminal:
		out = zerolog.ConsoleWriter{Out: out, NoColor: !terminal, TimeFormat: consoleTime, FormatPrepare: forPeople, FieldsOrder: peopleFirst}
	}
	level := zerolog.InfoLevel
	if s.Quiet {
		level = zerolog.WarnLevel
	}
	return zerolog.New(limit.Writer(zerolog.MultiLevelWriter(out, lines))).Level(level).With().Timestamp().Logger(), file, nil
}

// rotateLog is logRotate for those who send a signal.
func rotateLog(file *logFile, log zerolog.Logger) {
	if err := file.rotate(); err != nil {
		log.Error().Err(err).Msg("Failed to rotate the log")
		return
	}
	log.Info().Msg("Log rotated")
}

// logMongod is the format of mongod's log.
const logMongod = "mongod"

// consoleTime is the time of a line for people.
const consoleTime = "2006-01-02 15:04:05.000"

// peopleFirst are the fields that people look for first.
var peopleFirst = []string{"ns", "durationMillis", "op", "planSummary", "keysExamined", "docsExamined", "nreturned"}

// shortCommand bounds the command of a slow operation in a line for people.
const shortCommand = 200

// forPeople shortens the line of a slow operation: it has the most important fields of the
// entry, and the beginning of the command.
func forPeople(line map[string]any) error {
	entry, ok := line["attr"].(map[string]any)
	if !ok {
		return nil
	}
	delete(line, "attr")
	delete(line, "remote") // ctx names the connection
	delete(line, "truncated")
	delete(line, "size")
	for _, name := range []string{"op", "planSummary", "keysExamined", "docsExamined", "nreturned", "ninserted", "nMatched", "nModified", "ndeleted", "errMsg", "appName"} {
		if v, ok := entry[name]; ok {
			line[name] = v
		}
	}
	command, err := json.Marshal(entry["command"])
	if err != nil {
		return err
	}
	line["command"] = string(command)
	if len(command) > shortCommand {
		line["command"] = strings.ToValidUTF8(string(command[:shortCommand]), "") + "…"
	}
	return nil
}

// logConnections makes the log name every connection from the start if it has mongod's
// format, as mongod does, unless verbosities are given.
func (s *serveCmd) logConnections(params map[string]string) {
	if _, given := params["logComponentVerbosity"]; !given && s.LogFormat == logMongod && !s.Quiet {
		params["logComponentVerbosity"] = `{"network":{"verbosity":1}}`
	}
}
