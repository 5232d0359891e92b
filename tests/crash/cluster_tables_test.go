//go:build unix

package crash

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/duskdb/duskdb/internal/freeport"
	"github.com/duskdb/duskdb/internal/pgtest"
)

// TestClusterTables: a server does not start over tables that lose or hide rows, and names
// them; so does a copy. Over ordinary tables everything is there again.
func TestClusterTables(t *testing.T) {
	needsCluster(t)
	t.Parallel()
	uri := pgtest.URI(t)
	c := clusterOver(t, uri)
	c.start(0)
	if _, err := c.only(0).Database("d").Collection("c").InsertOne(background, bson.M{"_id": 1}); err != nil {
		t.Fatal(err)
	}
	c.servers[0].Stop(t)

	schema := schemaOf(c)
	query(t, uri, `alter table "`+schema+`".kv set unlogged; alter table "`+schema+`".lease set unlogged`)
	for name, args := range map[string][]string{
		"serve": append([]string{"serve", "--port", fmt.Sprint(freeport.For(t))}, c.args...),
		"copy":  {"copy", c.args[3], "bunt:" + t.TempDir() + "/copy", "--quiet"},
	} {
		ctx, end := context.WithTimeout(background, patience) // a server that is not refused goes on
		out, err := exec.CommandContext(ctx, binary, args...).CombinedOutput()
		end()
		text := string(out)
		if err == nil || ctx.Err() == context.DeadlineExceeded {
			t.Errorf("%s: the tables are not refused", name)
		}
		for _, word := range []string{schema, "ordinary tables", "kv (it is unlogged", "lease (it is unlogged"} {
			if !strings.Contains(text, word) {
				t.Errorf("%s does not say %q: %s", name, word, text)
			}
		}
	}
	query(t, uri, `alter table "`+schema+`".kv set logged; alter table "`+schema+`".lease set logged`)
	c.start(0)
	if n, err := c.only(0).Database("d").Collection("c").CountDocuments(background, bson.M{}); n != 1 || err != nil {
		t.Errorf("there are %d documents, %v", n, err)
	}
}
