package users_test

import (
	"context"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// The next command sees every change to the collections of users and roles, even
// one that no command made: the test writes to the storage directly.
func TestUsersFollowTheirDocuments(t *testing.T) {
	h := harness.NewAuth(t)
	ann := h.User("ann", "readWrite@shop")
	may := func(command string) bool { return h.Gate(ann, "shop", command) == nil }
	if !may(`{"insert": "c"}`) {
		t.Error("the role readWrite does not allow to insert")
	}
	update := func(fn func(storage.Tx) error) {
		t.Helper()
		if err := h.Svc.Engine.Update(context.Background(), fn); err != nil {
			t.Fatal(err)
		}
	}
	users := storage.Namespace{DB: "admin", Coll: "system.users"}
	update(func(tx storage.Tx) error {
		e, err := serverdocs.Find(tx, users, value.String("admin.ann"))
		if err != nil {
			return err
		}
		b := value.NewBuilder()
		for name, v := range e.Doc.All() {
			if name == "roles" {
				v = value.NewArray(value.Document(value.NewDoc("role", value.String("read"), "db", value.String("shop"))))
			}
			b.Append(name, v)
		}
		return e.Put(b.Doc(), 1)
	})
	if may(`{"insert": "c"}`) || !may(`{"find": "c"}`) {
		t.Error("the stored roles do not count")
	}
	update(func(tx storage.Tx) error { return tx.Drop(users) })
	if may(`{"find": "c"}`) {
		t.Error("a user who is gone may still read")
	}
}
