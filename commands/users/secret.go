package users

import (
	"crypto/rand"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// secrets has what servers over the same data must not tell, and all need. Clients cannot
// read it.
var secrets = storage.Namespace{DB: "local", Coll: "$secrets"}

// fakeCredentials is the _id of the secret that the answers to unknown users are made from.
var fakeCredentials = value.String("fakeCredentials")

// commonSecret returns the secret of all servers over the data, nil without others. If it
// were another on each, an unknown user would be known by the salt that differs.
func commonSecret(s *kernel.Service) (secret []byte, err error) {
	if !s.Shared {
		return nil, nil
	}
	err = storage.Retry(s.Background, s.Engine, func(tx storage.Tx) error {
		e, err := serverdocs.Find(tx, secrets, fakeCredentials)
		if err != nil {
			return err
		}
		if e.Exists() {
			_, data := e.Doc.Lookup("key").Binary()
			secret = append([]byte(nil), data...)
			return nil
		}
		secret = make([]byte, 32)
		_, _ = rand.Read(secret) // never fails
		return e.Put(value.NewDoc("_id", fakeCredentials, "key", value.Binary(0, secret)), s.Clock.NowMillis())
	})
	return secret, err
}
