// Package plain puts errors into the words of those who run a program. The errors of Go's
// library name functions and steps of a program ("dial tcp", "bind:", "strconv.ParseInt"), which
// say nothing to somebody who has only misspelt a path.
package plain

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Text is the text of an error. The texts of the errors within it, wherever they stand, are
// replaced by plain ones.
func Text(err error) string {
	if err == nil {
		return ""
	}
	return replace(err.Error(), err)
}

// replace replaces the texts of the errors of a tree, the outermost first.
func replace(text string, err error) string {
	if said := say(err); said != "" {
		return strings.ReplaceAll(text, err.Error(), said)
	}
	switch e := err.(type) { //nolint:errorlint // one error of the tree
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return replace(text, inner)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			text = replace(text, inner)
		}
	}
	return text
}

// say puts one error into words; "" if its text may stay.
func say(err error) string {
	switch e := err.(type) { //nolint:errorlint // one error of the tree
	case *fs.PathError:
		return e.Path + ": " + Text(e.Err)
	case *os.LinkError:
		return fmt.Sprintf("%s cannot become %s: %s", e.Old, e.New, Text(e.Err))
	case *os.SyscallError:
		return Text(e.Err)
	case *net.OpError:
		return network(e)
	case *net.DNSError:
		return lookup(e)
	case *net.AddrError:
		return fmt.Sprintf("%q is no address with a port: %s", e.Addr, e.Err)
	case *url.Error: // its URL may have a password
		return Text(e.Err)
	case *strconv.NumError:
		return fmt.Sprintf("%q is no number", e.Num)
	case *tls.CertificateVerificationError:
		return "the certificate of the server is not accepted: " + Text(e.Err)
	case x509.UnknownAuthorityError:
		return "its authority is not known"
	case x509.HostnameError:
		return fmt.Sprintf("it is not for the host %s", e.Host)
	case tls.RecordHeaderError:
		return "the server does not speak TLS"
	}
	return sayValue(err)
}

// sayValue puts errors into words that are values and have no fields.
func sayValue(err error) string {
	switch err {
	case io.EOF: //nolint:errorlint // one error of the tree
		return "unexpected end"
	case io.ErrUnexpectedEOF:
		return "the data end too early"
	case context.DeadlineExceeded, os.ErrDeadlineExceeded:
		return "no answer within the time limit"
	case context.Canceled:
		return "interrupted"
	}
	if err.Error() == "i/o timeout" { // of package net, which does not export it
		return "no answer within the time limit"
	}
	_, several := err.(interface{ Unwrap() []error })
	if errors.Unwrap(err) == nil && !several {
		for _, area := range areas {
			if text, ok := strings.CutPrefix(err.Error(), area); ok {
				return text
			}
		}
	}
	return ""
}

// areas are words with which parts of Go's library, and a library for keys, begin their errors.
var areas = []string{"tls: ", "x509: ", "asn1: ", "yaml: ", "pkcs8: ", "gzip: ", "net: "}

// network is an error of a connection. A connection that was not made says with whom.
func network(e *net.OpError) string {
	why := Text(e.Err)
	switch {
	case e.Op == "dial" && isLookup(e.Err):
		return why
	case e.Op == "dial" && e.Addr != nil:
		return fmt.Sprintf("no server answers at %s: %s", e.Addr, why)
	case e.Op == "remote error":
		return "the other side says: " + why
	case (e.Op == "read" || e.Op == "write") && e.Timeout():
		return "no answer within the time limit"
	case errors.Is(e.Err, syscall.ECONNRESET):
		return "the other side closed the connection"
	}
	return why
}

func isLookup(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns)
}

// lookup is an error of the search for a host's address.
func lookup(e *net.DNSError) string {
	switch {
	case e.IsNotFound:
		return fmt.Sprintf("the host name %s is unknown", e.Name)
	case e.IsTimeout:
		return fmt.Sprintf("the host name %s was not found within the time limit", e.Name)
	}
	return fmt.Sprintf("the host name %s cannot be looked up", e.Name)
}
