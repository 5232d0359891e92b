package value

// Lookup returns the first element of that name, or Missing. It reads only
// names and lengths, and builds only this value.
func (d Doc) Lookup(key string) Value {
	if len(d) < 5 {
		return Value{}
	}
	b := d[4 : len(d)-1]
	for len(b) > len(key)+1 {
		k := Kind(b[0])
		n := 1
		found := b[1+len(key)] == 0 && string(b[1:1+len(key)]) == key
		if found {
			n += len(key)
		} else {
			for b[n] != 0 {
				n++
			}
		}
		b = b[n+1:]
		size := int(kinds[k].width)
		if size < 0 {
			size = payloadSize(k, b)
		}
		if found {
			return fromPayload(k, b[:size:size])
		}
		b = b[size:]
	}
	return Value{}
}
