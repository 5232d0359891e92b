package value_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// TestKeysOfLargeIntegers: integers beyond 2^53 have the key of the equal
// decimal, also if they end in zeros.
func TestKeysOfLargeIntegers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	numbers := []int64{math.MaxInt64, math.MinInt64, math.MinInt64 + 1, 1<<53 + 1, -1<<53 - 1, 9_007_199_254_740_993_000}
	for range 2000 {
		n := int64(random.Uint64())
		numbers = append(numbers, n, n/10*10, n/1000*1000, n/10*10+1)
	}
	for _, n := range numbers {
		key := value.AppendKey(nil, value.Int64(n))
		if same := value.AppendKey(nil, value.DecimalValue(value.DecimalFromInt64(n))); !bytes.Equal(key, same) {
			t.Errorf("%d: key %x, of the decimal %x", n, key, same)
		}
	}
}
