package value

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"sync/atomic"
)

// OID is an ObjectId: 4 bytes of seconds, 5 random bytes, a 3-byte counter.
type OID [12]byte

var (
	oidProcess = func() (b [5]byte) { _, _ = rand.Read(b[:]); return b }()
	oidCounter = func() *atomic.Uint32 {
		var b [4]byte
		_, _ = rand.Read(b[:])
		c := new(atomic.Uint32)
		c.Store(binary.BigEndian.Uint32(b[:]))
		return c
	}()
)

// NewOID makes a fresh ObjectId for an instant (milliseconds since the
// epoch, from the server's clock).
func NewOID(nowMillis int64) (id OID) {
	binary.BigEndian.PutUint32(id[:], uint32(nowMillis/1000))
	copy(id[4:], oidProcess[:])
	c := oidCounter.Add(1)
	id[9], id[10], id[11] = byte(c>>16), byte(c>>8), byte(c)
	return id
}

// Hex returns the 24 hexadecimal digits.
func (id OID) Hex() string { return hex.EncodeToString(id[:]) }

// Seconds returns the first four bytes of the id, unsigned. The ids of buckets
// wrap around.
func (id OID) Seconds() uint32 { return binary.BigEndian.Uint32(id[:]) }

// Millis is the instant of the id in milliseconds since the epoch. MongoDB
// reads its seconds as a signed number: from 80000000 on they are before 1970.
func (id OID) Millis() int64 { return int64(int32(id.Seconds())) * 1000 }

// ParseOID reads 24 hexadecimal digits.
func ParseOID(s string) (id OID, ok bool) {
	if len(s) != 24 {
		return id, false
	}
	_, err := hex.Decode(id[:], []byte(s))
	return id, err == nil
}
