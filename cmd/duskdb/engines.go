package main

import (
	_ "github.com/duskdb/duskdb/server/pebble"   // the storage engine pebble
	_ "github.com/duskdb/duskdb/server/postgres" // the storage engine postgres
)
