package servertest_test

import (
	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/storage/storagetest"
)

func init() { engines.Wrap = storagetest.HostileByEnvironment() }
