package house

import (
	"os"
	"strings"
	"testing"
)

// TestRoomsOfCommands holds the list of rooms in ARCHITECTURE.md against the table of imports:
// it has all of them, and each may use only rooms of its line and below.
func TestRoomsOfCommands(t *testing.T) {
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "\ncommands         ")
	list, _, ok := strings.Cut(list, "```")
	if !ok {
		t.Fatal("ARCHITECTURE.md has no list of the rooms of commands")
	}
	line := map[string]int{}
	for i, text := range strings.Split(list, "\n") {
		if !strings.HasPrefix(text, "  ") || strings.HasPrefix(text, "   ") {
			continue // what a room does
		}
		names, _, _ := strings.Cut(strings.TrimSpace(text), "  ")
		for name := range strings.FieldsSeq(names) {
			line["commands/"+name] = i
		}
	}
	for room, uses := range imports {
		if !strings.HasPrefix(room, "commands/") || strings.Contains(room, "/internal/") {
			continue
		}
		at, ok := line[room]
		if !ok {
			t.Errorf("ARCHITECTURE.md does not list the room %s", room)
			continue
		}
		for used := range strings.FieldsSeq(uses) {
			if below, ok := line[used]; ok && below < at {
				t.Errorf("%s uses %s, which ARCHITECTURE.md lists above it", room, used)
			}
		}
	}
	for room := range line {
		if _, ok := imports[room]; !ok {
			t.Errorf("ARCHITECTURE.md lists %s, which is no room", room)
		}
	}
}
