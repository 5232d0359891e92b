// Package editdistance tells how alike two words are, to suggest the one that was meant.
package editdistance

// Levenshtein is the number of bytes to insert, remove or replace between two words. Its time
// grows with the product of their lengths.
func Levenshtein(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(row[j+1]+1, row[j]+1, replaced)
		}
	}
	return row[len(b)]
}

// Nearest is the known word that another is most like, "" if none is near. Words that are the
// same in a sense come first.
func Nearest(word string, known []string, same func(known string) bool) string {
	const far = 2
	best, nearest := "", min(far, len(word)/4)+1
	for _, k := range known {
		distance := Levenshtein(k, word)
		if same(k) {
			distance = 0
		}
		if distance < nearest {
			best, nearest = k, distance
		}
	}
	return best
}
