package main

import _ "github.com/duskdb/duskdb/server/pebble" // the storage engine pebble
