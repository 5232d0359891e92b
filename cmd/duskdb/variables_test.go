package main

import (
	"slices"
	"testing"
)

func TestMisspeltVariables(t *testing.T) {
	got := misspelt(describe(&cli{}), []string{"DUSKDB_MEMORYLIMIT=1GB", "DUSKDB_MEMORY_LIMIT=1GB", "duskdb_port=1", "DUSKDB_DB_PATH=/x", "DUSKDB_CLIENTS=1", "DUSKDB_ROOT_USERNAME=a", "PATH=/bin"})
	want := []string{
		"The variable DUSKDB_DB_PATH is unknown and has no effect; did you mean DUSKDB_DBPATH?",
		"The variable DUSKDB_MEMORYLIMIT is unknown and has no effect; did you mean DUSKDB_MEMORY_LIMIT?",
		"The variable duskdb_port is unknown and has no effect; did you mean DUSKDB_PORT?",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
