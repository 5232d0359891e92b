package bunt

import "testing"

// BenchmarkRepackPart copies the leaves that Repack copies while writers wait.
func BenchmarkRepackPart(b *testing.B) {
	tree := scattered(1_000_000)
	from, more := entry{}, false
	b.ResetTimer()
	for range b.N {
		if _, from, more = tree.repack(from, repackAtOnce); !more {
			from = entry{}
		}
	}
}
