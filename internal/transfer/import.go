package transfer

import (
	"errors"
	"fmt"
	"io"

	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// Mode says what the import does with a document.
type Mode string

// The modes of mongoimport. All but Insert find the stored document by the
// upsert fields; a document that lacks one of them is inserted, or of Delete
// not used.
const (
	Insert Mode = "insert"
	Upsert Mode = "upsert" // replace, or insert
	Merge  Mode = "merge"  // set the fields that the document has, or insert
	Delete Mode = "delete"

	restoreMessages Mode = "restore" // store messages of a queue with their state
)

// ImportOptions say where documents go and how.
type ImportOptions struct {
	Database, Collection string

	Extra        value.Doc // further arguments of the commands; nil: none
	Drop         bool      // the collection, first
	Mode         Mode      // "": Insert
	UpsertFields []string
	StopOnError  bool

	OnError  func(error) // called for each document that failed; may be nil
	Progress func(documents int)
}

// Result counts what an import did.
type Result struct {
	Imported, Failed int // documents
	Left             int // parts of a dump that were not restored
}

// ErrStopped is returned by an import that stops at an error, which OnError
// has received.
var ErrStopped = errors.New("stopped at the first error")

// A batch is sent when it has as many documents or bytes.
const (
	batchDocs  = 1000
	batchBytes = 12 << 20
)

// importer is an import under way.
type importer struct {
	ImportOptions
	to     Runner
	res    Result
	verb   string // command of the batch: insert, update or delete
	seq    wire.Sequence
	lines  []int
	source Source
}

// Import sends the documents of a source to a collection. It returns errors of
// the import as a whole; errors of single documents are passed to OnError and
// counted.
func Import(to Runner, source Source, o ImportOptions) (Result, error) {
	if o.Mode == "" {
		o.Mode = Insert
	}
	if len(o.UpsertFields) == 0 {
		o.UpsertFields = []string{"_id"}
	}
	im := &importer{ImportOptions: o, to: to, source: source}
	if o.Drop {
		if err := im.drop(); err != nil {
			return im.res, err
		}
	}
	err := im.all()
	if errors.Is(err, io.EOF) {
		err = im.flush()
	} else if errors.Is(err, ErrStopped) {
		if flushed := im.flush(); flushed != nil {
			err = flushed
		}
	}
	return im.res, err
}

// drop drops the collection. Servers before 7.0 return an error if it does not exist.
func (im *importer) drop() error {
	const namespaceNotFound = 26
	_, err := im.to.Run(value.NewDoc("drop", value.String(im.Collection), "$db", value.String(im.Database)))
	var failed *CommandError
	if errors.As(err, &failed) && failed.Code == namespaceNotFound {
		return nil
	}
	return err
}

// all reads the source to its end, which is the error.
func (im *importer) all() error {
	for {
		doc, line, err := im.source.Next()
		var bad *LineError
		if errors.As(err, &bad) {
			if err = im.failed(bad); err == nil && bad.Stop {
				err = ErrStopped
			}
		} else if err == nil {
			err = im.add(doc, line)
		}
		if err != nil {
			return err
		}
	}
}

// at is the error of one document of the source.
func (im *importer) at(line int, err error) *LineError {
	return &LineError{Line: line, Unit: im.source.Unit(), Err: err}
}

// failed counts a document that was not imported.
func (im *importer) failed(err error) error {
	im.res.Failed++
	if im.OnError != nil {
		im.OnError(err)
	}
	if im.StopOnError {
		return ErrStopped
	}
	return nil
}

// add puts a document into the batch, and sends the batch if it is full.
func (im *importer) add(doc value.Doc, line int) error {
	if len(doc) > maxDocument { // the server would refuse the whole batch
		return im.failed(im.at(line, fmt.Errorf("the document has %d bytes; the limit is %d", len(doc), maxDocument)))
	}
	verb, statement := im.statement(doc)
	if verb == "" {
		return im.failed(im.at(line, errors.New("the document has none of the fields that identify it (--upsertFields)")))
	}
	if full := len(im.lines) == batchDocs || len(im.seq.Bytes())+len(statement) > batchBytes; full || verb != im.verb {
		if err := im.flush(); err != nil {
			return err
		}
	}
	im.verb = verb
	im.seq.Append(statement)
	im.lines = append(im.lines, line)
	return nil
}

// statement returns the write statement for a document.
func (im *importer) statement(doc value.Doc) (verb string, statement value.Doc) {
	switch im.Mode {
	case Insert:
		return "insert", doc
	case restoreMessages:
		return "mqRestore", doc
	}
	query := value.NewBuilder()
	for _, name := range im.UpsertFields {
		v := value.ParsePath(name).Get(doc)
		if v.IsMissing() {
			if im.Mode == Delete {
				return "", nil
			}
			return "insert", doc
		}
		query.Append(name, v)
	}
	b := value.NewBuilder().Document("q", query.Doc())
	switch im.Mode {
	case Delete:
		return "delete", b.Int32("limit", 1).Doc()
	case Merge:
		b.StartDocument("u").Document("$set", doc).End()
	default:
		b.Document("u", doc)
	}
	return "update", b.Bool("upsert", true).Doc()
}

// sequenceNames are the arrays of statements that the commands take.
var sequenceNames = map[string]string{"insert": "documents", "update": "updates", "delete": "deletes", "mqRestore": "messages"}

// ofTheServer are the errors of a statement that are about the server's state,
// not about the document: every later document would fail in the same way.
var ofTheServer = map[int64]bool{
	13:    true, // Unauthorized
	91:    true, // ShutdownInProgress
	146:   true, // ExceededMemoryLimit
	189:   true, // PrimarySteppedDown
	371:   true, // UserWritesBlocked
	10107: true, // NotWritablePrimary
	11600: true, // InterruptedAtShutdown
	14031: true, // OutOfDiskSpace
}

// command is that of the batch, without its statements.
func (im *importer) command() value.Doc {
	b := value.NewBuilder().String(im.verb, im.Collection)
	if im.Mode != restoreMessages {
		b.Bool("ordered", im.StopOnError)
	}
	for name, v := range im.Extra.All() {
		b.Append(name, v)
	}
	return b.String("$db", im.Database).Doc()
}

// flush sends the batch and reports the documents that the server refused.
func (im *importer) flush() error {
	if len(im.lines) == 0 {
		return nil
	}
	im.seq.ID = sequenceNames[im.verb]
	reply, err := im.to.Run(im.command(), im.seq)
	if err != nil {
		return fmt.Errorf("%ss %d to %d: %w", im.source.Unit(), im.lines[0], im.lines[len(im.lines)-1], err)
	}
	done, bad := len(im.lines), 0
	var stopped error
	for v := range reply.Lookup("writeErrors").Doc().Values() {
		at := int(v.Doc().Lookup("index").Int64())
		if at < 0 || at >= len(im.lines) {
			return fmt.Errorf("the server reported an error for statement %d of %d", at, len(im.lines))
		}
		bad++
		refused := im.at(im.lines[at], errors.New(v.Doc().Lookup("errmsg").Str()))
		if err := im.failed(refused); err != nil {
			stopped, done, bad = err, at, 0
		} else if ofTheServer[v.Doc().Lookup("code").Int64()] && stopped == nil {
			stopped = fmt.Errorf("stopped, because every further document would fail: %w", refused)
		}
	}
	im.res.Imported += done - bad
	im.seq.Reset()
	im.lines = im.lines[:0]
	if im.Progress != nil {
		im.Progress(im.res.Imported + im.res.Failed)
	}
	return stopped
}
