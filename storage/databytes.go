package storage

// DataBytes is the size of the documents of collections, in bytes.
func DataBytes(tx Tx, list []*Info) (n int64, err error) {
	for _, info := range list {
		coll, err := tx.Collection(info.Namespace)
		if err != nil {
			return 0, err
		}
		size, err := coll.Size()
		if err != nil {
			return 0, err
		}
		n += size
	}
	return n, nil
}
