package schema

// Closest returns the known word that differs from word by the fewest edits, or an empty
// string if every one differs by too many: more than a third of the length of word, or for a
// short word more than two or more than half of it.
func Closest(word string, known []string) string {
	best, least := "", min(max(2, len(word)/3), len(word)/2)+1
	for _, k := range known {
		if d := edits(word, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// edits returns how many bytes have to be added, removed, changed or swapped with their
// neighbour to make b of a.
func edits(a, b string) int {
	last, row, next := []int(nil), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			cost := row[j]
			if a[i] != b[j] {
				cost++
			}
			next[j+1] = min(cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], last[j-1]+1)
			}
		}
		last, row, next = row, next, make([]int, len(b)+1)
	}
	return row[len(b)]
}
