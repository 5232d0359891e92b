package stage

// Claim is the memory that a stage has claimed of its operation. A stage that has given
// memory back keeps its claim, because it may need it again.
type Claim struct{ n int64 }

// claimStep is the least number of bytes to claim.
const claimStep = 1 << 20

// Grow is called when the stage holds size bytes. It may wait until there is memory for
// more.
func (c *Claim) Grow(x *Exec, size int64) error {
	more := size - c.n
	if more < claimStep || x.Env.Memory == nil {
		return nil
	}
	c.n = size
	return x.Env.Memory.Claim(more)
}
