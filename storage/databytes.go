package storage

// DataBytes is the size of the documents of all collections, in bytes.
func DataBytes(tx Tx) (n int64, err error) {
	infos, err := tx.Collections("")
	if err != nil {
		return 0, err
	}
	for _, info := range infos {
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
