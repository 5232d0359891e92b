package script

import (
	"crypto/md5" //nolint:gosec // hex_md5 is what scripts ask for
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/script/engine"
	"github.com/duskdb/duskdb/value"
)

// errTimeout is the error of a function that exceeds its time limit.
var errTimeout = mongoerr.New(mongoerr.JSInterpreterFailure, "Interrupted by the host")

// Poll is called by the engine at intervals; an error ends the script.
func (o *Operation) Poll() error {
	if o.setup.Interrupt != nil {
		if err := o.setup.Interrupt(); err != nil {
			return err
		}
	}
	limit := o.engine.timeout()
	if o.compiling && (limit <= 0 || limit > compileTimeout) {
		limit = compileTimeout
	}
	if limit > 0 && o.engine.real.Now().Sub(o.started) > limit {
		return errTimeout
	}
	return nil
}

// Now returns the time for scripts.
func (o *Operation) Now() int64 { return o.engine.clock.Now().UnixNano() }

// Ask implements the functions of the prelude that need Go.
func (o *Operation) Ask(q engine.Question, b []byte) (answer []byte, result int, err error) {
	switch q {
	case engine.Print:
		if o.engine.log != nil {
			o.engine.log(string(b[:min(len(b), maxPrinted)]))
		}
	case engine.Sleep:
		return nil, 0, o.sleep(string(b))
	case engine.MD5:
		sum := md5.Sum(b) //nolint:gosec // see above
		return hex.AppendEncode(nil, sum[:]), 0, nil
	case engine.Parse:
		return parseDecimal(string(b))
	case engine.Format:
		return formatDecimal(b)
	case engine.Compare:
		return nil, compare(b), nil
	case engine.Size:
		return nil, len(value.Doc(b).Lookup("0").Doc()), nil
	case engine.Random:
		return o.random(string(b)), 0, nil
	case engine.Version:
		return []byte(o.engine.version), 0, nil
	default:
		return nil, -1, nil
	}
	return nil, 0, nil
}

// maxPrinted is the largest number of bytes that print writes.
const maxPrinted = 4096

// sleep waits for some milliseconds, or until the operation ends.
func (o *Operation) sleep(text string) error {
	ms, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(ms) || ms <= 0 {
		return nil
	}
	wait := time.Duration(min(ms, math.MaxInt32)) * time.Millisecond
	if limit := o.engine.timeout(); limit > 0 {
		wait = min(wait, limit-o.engine.real.Now().Sub(o.started)+time.Millisecond)
	}
	var done <-chan struct{}
	if o.setup.Done != nil {
		done = o.setup.Done()
	}
	t := o.engine.real.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C():
	case <-done:
	}
	return o.Poll()
}

func parseDecimal(s string) ([]byte, int, error) {
	d, ok := value.ParseDecimal(s)
	if !ok {
		return nil, -1, nil
	}
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], d.Lo)
	binary.LittleEndian.PutUint64(b[8:], d.Hi)
	return hex.AppendEncode(nil, b[:]), 0, nil
}

func formatDecimal(digits []byte) ([]byte, int, error) {
	b, err := hex.AppendDecode(nil, digits)
	if err != nil || len(b) != 16 {
		return nil, -1, nil
	}
	d := value.Decimal{Lo: binary.LittleEndian.Uint64(b), Hi: binary.LittleEndian.Uint64(b[8:])}
	return []byte(d.String()), 0, nil
}

// compare orders two documents, names included.
func compare(b []byte) int {
	d := value.Doc(b)
	return value.Compare(d.Lookup("0"), d.Lookup("1"))
}

// random returns a new UUID, or an ObjectId.
func (o *Operation) random(what string) []byte {
	if what == "uuid" {
		id := uuid.New()
		return hex.AppendEncode(nil, id[:])
	}
	var b [12]byte
	_, _ = rand.Read(b[:]) // it never fails
	binary.BigEndian.PutUint32(b[:], uint32(o.engine.clock.Now().Unix()))
	return hex.AppendEncode(nil, b[:])
}
