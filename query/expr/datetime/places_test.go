package datetime

import "testing"

// A place has one name: the loader would read a path with two slashes as well, and every way to
// write one would be remembered.
func TestOnePlaceOneName(t *testing.T) {
	for name, ok := range map[string]bool{
		"Europe/Paris": true, "America/Indiana/Knox": true,
		"Europe//Paris": false, "Europe///Paris": false, "America/Indiana//Knox": false, "Europe/./Paris": false, "Europe/Paris/": false, "/Europe/Paris": false,
	} {
		if _, err := ParseZone(name); (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
