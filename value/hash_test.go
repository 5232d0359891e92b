package value

import "testing"

// The expected hashes are those that MongoDB's own tests publish.
func TestHashedKey(t *testing.T) {
	tests := []struct {
		v    Value
		want int64
	}{
		{Null(), 2338878944348059895},
		{Value{}, 2338878944348059895},
		{Undefined(), 40158834000849533},
		{MinKey(), 7961148599568647290},
		{MaxKey(), 5504842513779440750},
		{String("abc"), 8478485326885698097},
		{Symbol("abc"), 8478485326885698097},
		{String(""), 2049396243249673340},
		{DateTime(0), -1178696894582842035},
		{Double(16), 2598032665634823220},
		{Int64(-1 << 63), 4532067210535695462},
		{Double(-1e300), 4532067210535695462},
		{Document(MustJSON(`{"a":"abc","b":{"$numberLong":"123"}}`)), 4771603801758380216},
		{Document(EmptyDoc), 7980500913326740417},
		{NewArray(String("bar"), String("baz"), String("qux")), -2938911267422831539},
	}
	for _, tt := range tests {
		if got := HashedKey(tt.v); got != tt.want {
			t.Errorf("HashedKey(%s) = %d, want %d", tt.v, got, tt.want)
		}
	}
	if HashedKey(Double(3.9)) != HashedKey(Int32(3)) {
		t.Error("numbers are not cut to whole ones")
	}
}
