package plain

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"syscall"
	"testing"
)

func TestText(t *testing.T) {
	_, missing := os.Open("/does/not/exist")
	_, number := strconv.Atoi("x")
	_, badURL := url.Parse("mongodb://user:secret@host:port/") //nolint:staticcheck // it is not valid
	var dial *net.OpError
	if _, err := net.DialTimeout("tcp", "127.0.0.1:1", 1); !errors.As(err, &dial) {
		t.Fatal(err)
	}
	late := dial.Err
	refused := &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{errors.New("as it is"), "as it is"},
		{fmt.Errorf("the key: %w", missing), "the key: /does/not/exist: no such file or directory"},
		{errors.Join(missing, errors.New("b")), "/does/not/exist: no such file or directory\nb"},
		{fmt.Errorf("a: %w", fmt.Errorf("b: %w", number)), `a: b: "x" is no number`},
		{json.Unmarshal([]byte("{a: 1}"), new(any)), "invalid character 'a' looking for beginning of object key string"},
		{badURL, `invalid port ":port" after host`},
		{refused, "no server answers at 127.0.0.1:1: connection refused"},
		{&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Name: "nosuch", IsNotFound: true}}, "the host name nosuch is unknown"},
		{&net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}, "no answer within the time limit"},
		{&net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, "the other side closed the connection"},
		{&net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}, "address already in use"},
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, "the certificate of the server is not accepted: its authority is not known"},
		{errors.Join(&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}), "the certificate of the server is not accepted: its authority is not known"},
		{&net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, Err: late}, "no server answers at 127.0.0.1:1: no answer within the time limit"},
		{errors.New("tls: private key does not match public key"), "private key does not match public key"},
		{fmt.Errorf("the backup: %w", io.ErrUnexpectedEOF), "the backup: the data end too early"},
		{context.DeadlineExceeded, "no answer within the time limit"},
		{&os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.EXDEV}, "a cannot become b: invalid cross-device link"},
	} {
		if got := Text(tt.err); got != tt.want {
			t.Errorf("%v:\n%s, want\n%s", tt.err, got, tt.want)
		}
	}
}
