package kernel

import (
	"cmp"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// TLSParameters show the mode of TLS, under its present and its former name. In mongod they
// can make it stricter; here a restart does, so a change is refused rather than ignored.
func TLSParameters() (list []Parameter) {
	for _, name := range []string{"sslMode", "tlsMode"} {
		list = append(list, Parameter{
			Name: name, Initial: value.String("disabled"), Runtime: true,
			Check: func(v value.Value) (value.Value, error) {
				return v, mongoerr.Newf(mongoerr.IllegalOperation, "%s cannot be changed while the server runs: start it with --tlsMode", name)
			},
			read: func(s *Service) value.Value { return value.String(cmp.Or(s.Options.Security.TLSMode, "disabled")) },
		})
	}
	return list
}
