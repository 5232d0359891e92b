package postgres

import (
	"errors"
	"net"
	"strings"

	"github.com/duskdb/duskdb/internal/plain"
)

// unreachable says why the database cannot be reached. The driver's text repeats the address and
// names steps of a program; the error within it says what is wrong.
func unreachable(err error) string {
	var dial *net.OpError
	if errors.As(err, &dial) {
		return plain.Text(dial)
	}
	var lookup *net.DNSError
	if errors.As(err, &lookup) {
		return plain.Text(lookup)
	}
	return plain.Text(err)
}

// uriError is the error of a URI that is not one of a database.
type uriError struct {
	uri   string
	cause error
}

// BadURI marks the error as that of an option.
func (*uriError) BadURI() {}

func (e *uriError) Error() string {
	if scheme, _, ok := strings.Cut(e.uri, "://"); ok && !strings.HasPrefix(scheme, "postgres") {
		return "the URI of the database begins with " + scheme + "://, not with postgres://"
	}
	return "the URI of the database cannot be read: " + e.cause.Error()
}

// Unwrap returns the error of the driver.
func (e *uriError) Unwrap() error { return e.cause }
