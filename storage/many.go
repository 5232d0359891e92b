package storage

// manyBytes bounds the documents that ReadMany holds at a time.
const manyBytes = 16 << 20

// ReadMany calls fn with the records that have these ids, in their order and
// without those that do not exist. Unlike the function of a GetMany, fn may write
// to the collection: records are read together, and are as they were before the
// writes of fn. An id that comes twice is read once.
func ReadMany(coll Collection, ids []RecordID, fn func(Record) error) error {
	var records []Record
	seen := make(map[RecordID]struct{}, len(ids))
	for len(ids) > 0 {
		records = records[:0]
		bytes := 0
		err := coll.GetMany(ids, func(r Record) bool {
			if _, again := seen[r.ID]; !again {
				seen[r.ID] = struct{}{}
				records = append(records, r)
				bytes += len(r.Doc)
			}
			return bytes < manyBytes
		})
		if err != nil {
			return err
		}
		for _, r := range records {
			if err := fn(r); err != nil {
				return err
			}
		}
		if bytes < manyBytes {
			return nil
		}
		ids = behind(ids, records[len(records)-1].ID)
	}
	return nil
}

// behind returns the ids that follow the first occurrence of one.
func behind(ids []RecordID, id RecordID) []RecordID {
	for i := range ids {
		if ids[i] == id {
			return ids[i+1:]
		}
	}
	return nil
}
