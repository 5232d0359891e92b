package servertest_test

import (
	"github.com/duskdb/duskdb/internal/engines"
	_ "github.com/duskdb/duskdb/server/pebble" // for DUSKDB_TEST_ENGINE
	"github.com/duskdb/duskdb/storage/storagetest"
)

func init() { engines.Wrap = storagetest.HostileByEnvironment() }
