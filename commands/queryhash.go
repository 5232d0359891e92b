package commands

import (
	"fmt"
	"hash/fnv"
	"net"
	"strconv"

	"github.com/duskdb/duskdb/value"
)

// queryHash names the shape of a query: its filter without the values, and
// its sort.
func queryHash(q *readQuery) string {
	h := fnv.New32a()
	hashShape(func(s string) { _, _ = h.Write([]byte(s)) }, q.filter)
	_, _ = h.Write([]byte("|" + q.sort.String()))
	return fmt.Sprintf("%08X", h.Sum32())
}

func hashShape(write func(string), d value.Doc) {
	for name, v := range d.All() {
		write(name)
		write(":")
		switch v.Kind() {
		case value.KindDocument, value.KindArray:
			write("{")
			hashShape(write, v.Doc())
			write("}")
		default:
			write("?")
		}
	}
}

// localPort is the port the client connected to.
func (c *Call) localPort() int32 {
	_, port, err := net.SplitHostPort(c.conn.Local)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(port)
	return int32(n)
}
