package console

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/duskdb/duskdb/value"
)

// refuse answers with an error that the pages can show. It repeats only the beginning of
// what a client has sent.
func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, value.NewDoc("ok", value.Int32(0), "errmsg", value.String(value.Cut(text, maxText))).JSON()+"\n")
}

// answer answers with a short document.
func answer(w http.ResponseWriter, d value.Doc) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	_, _ = io.WriteString(w, d.JSON()+"\n")
}

// pass answers with a reply of the server while it arrives. What the client does not read
// stays with the server, whose limits for large replies therefore hold for the console.
func (c *Console) pass(w http.ResponseWriter, r *http.Request, reply io.Reader) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	_ = http.NewResponseController(w).SetWriteDeadline(c.options.Clock.Now().Add(answerTime))
	out := bufio.NewWriterSize(w, passBuffer)
	if err := value.WriteJSON(out, bufio.NewReaderSize(reply, passBuffer), r.URL.Query().Get("json") == "canonical"); err != nil {
		return err
	}
	_ = out.WriteByte('\n')
	return out.Flush()
}

// passBuffer is the size of the buffers between the server and a client.
const passBuffer = 32 << 10

var (
	errMedia = errors.New("the Content-Type must be application/json")
	errLarge = errors.New("the request is too large or incomplete")
)

// body reads the JSON document of a request. A form on a page of another site cannot send
// this media type. A large request waits for memory, which free gives back.
func (c *Console) body(w http.ResponseWriter, r *http.Request, limit int64) (d value.Doc, free func(), ok bool) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, errMedia.Error())
		return nil, nil, false
	}
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	text, free, err := c.read(r, limit)
	if errors.Is(err, errBusy) {
		refuse(w, http.StatusServiceUnavailable, err.Error())
		return nil, nil, false
	}
	if err != nil {
		refuse(w, http.StatusRequestEntityTooLarge, errLarge.Error())
		return nil, nil, false
	}
	if d, err = value.ParseJSON(text); err != nil {
		free()
		refuse(w, http.StatusBadRequest, "the request is not a document in extended JSON: "+err.Error())
		return nil, nil, false
	}
	return d, free, true
}

// read reads the body of a request.
func (c *Console) read(r *http.Request, limit int64) (text string, free func(), err error) {
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r.Body, min(smallBody, limit)); errors.Is(err, io.EOF) {
		return b.String(), func() {}, nil
	} else if err != nil {
		return "", nil, err
	}
	size := r.ContentLength
	if size < 0 || size > limit {
		size = limit
	}
	ctx, cancel := context.WithTimeout(r.Context(), waitTime)
	defer cancel()
	if err := c.bodies.Acquire(ctx, size*bodyMemory); err != nil {
		return "", nil, errBusy
	}
	free = func() { c.bodies.Release(size * bodyMemory) }
	b.Grow(int(size) - b.Len())
	if _, err := io.Copy(&b, r.Body); err != nil {
		free()
		return "", nil, err
	}
	return b.String(), free, nil
}

var errBusy = errors.New("the console is busy")

// begin takes one of a limited number of slots.
func begin(w http.ResponseWriter, slots chan struct{}) bool {
	select {
	case slots <- struct{}{}:
		return true
	default:
		refuse(w, http.StatusServiceUnavailable, errBusy.Error())
		return false
	}
}
