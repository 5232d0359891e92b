package servertest_test

import (
	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/internal/pgtest"
	_ "github.com/duskdb/duskdb/server/pebble"   // for DUSKDB_TEST_ENGINE
	_ "github.com/duskdb/duskdb/server/postgres" // likewise
	"github.com/duskdb/duskdb/storage/storagetest"
)

func init() { engines.Wrap, engines.TestURI = storagetest.HostileByEnvironment(), pgtest.EngineURI }
