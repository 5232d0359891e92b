// Package suites pins the Go drivers whose own tests TestSuites runs. It is a
// module of its own, so that what those tests need stays out of DuskDB's
// go.mod.
package suites

import (
	_ "go.mongodb.org/mongo-driver/mongo"    // tested as it stands in the module cache
	_ "go.mongodb.org/mongo-driver/v2/mongo" // as well
)
