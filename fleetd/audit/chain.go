package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
)

// Sum is the hash of an entry: SHA-256 over its fields in this order, each written as a
// netstring (length in bytes, colon, bytes, comma), so that no two entries have the same
// encoding and any language can compute it. Numbers are decimal, and the time is in
// microseconds since 1970 UTC.
func (e *Entry) Sum() string {
	var b []byte
	for _, field := range []string{
		strconv.FormatInt(e.Seq, 10), e.Prev, e.ID, strconv.FormatInt(e.At.UnixMicro(), 10), e.Principal, e.Address, string(e.Via),
		e.Who, string(e.What), e.Target, e.Why, e.Detail, e.Before, e.After, string(e.Outcome), e.Of,
	} {
		b = strconv.AppendInt(b, int64(len(field)), 10)
		b = append(b, ':')
		b = append(b, field...)
		b = append(b, ',')
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Head is the newest entry of the chain. The zero value is the head of an empty one.
type Head struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}

// Link makes e the next entry after head, and returns the new head.
func (e *Entry) Link(head Head) Head {
	e.Seq, e.Prev = head.Seq+1, head.Hash
	e.Hash = e.Sum()
	return Head{e.Seq, e.Hash}
}

// Checkpoint says which entries were pruned: all up to one, with the hash that the first entry
// after it carries.
type Checkpoint struct {
	Through int64  `json:"through"`
	Hash    string `json:"hash"`
	Rows    int64  `json:"rows"`
}

// Verdict is the result of verifying a chain.
type Verdict struct {
	Holds  bool    `json:"holds"`
	Rows   int64   `json:"rows" doc:"entries that were checked"`
	First  int64   `json:"first,omitempty" doc:"seq of the first of them"`
	Head   Head    `json:"head" doc:"the newest entry; note it elsewhere, and give it to a later check, which then shows that no entry was removed at the end"`
	Pruned int64   `json:"pruned,omitempty" doc:"entries up to this seq were pruned, and an entry of the chain says so"`
	Broken *Broken `json:"broken,omitempty" doc:"the first entry at which the chain is broken"`
}

// Broken is an entry that does not hold.
type Broken struct {
	Seq int64  `json:"seq"`
	ID  string `json:"id,omitempty"`
	Why string `json:"why"`
}

// Verifier checks a chain entry by entry, the oldest first.
type Verifier struct {
	// Partial accepts a chain whose first entries are missing without a checkpoint, as in an
	// export of the last month.
	Partial bool
	// Noted is a head that was noted earlier; zero = none.
	Noted Head

	first, last Entry
	rows        int64
	pruned      bool
	noted       bool
	broken      *Broken
}

// Add checks the next entry, and reports whether the chain holds so far.
func (v *Verifier) Add(e Entry) bool {
	if v.broken != nil {
		return false
	}
	if v.rows == 0 {
		v.first = e
	}
	v.rows++
	switch {
	case v.rows > 1 && e.Seq != v.last.Seq+1:
		v.refuse(e, fmt.Sprintf("it does not follow entry %d: entries between them are missing or out of order", v.last.Seq))
	case v.rows > 1 && e.Prev != v.last.Hash:
		v.refuse(e, fmt.Sprintf("it does not carry the hash of entry %d before it: that entry was replaced", v.last.Seq))
	case e.Seq < 1, e.Seq == 1 && e.Prev != "":
		v.refuse(e, "it is not the first entry of a chain")
	case e.Sum() != e.Hash:
		v.refuse(e, "its hash is not that of its contents: it was changed")
	case e.Seq == v.Noted.Seq && e.Hash != v.Noted.Hash:
		v.refuse(e, "its hash is not the one that was noted earlier: it was replaced, or entries before it")
	}
	if v.broken != nil {
		return false
	}
	if e.What == ActionPrune {
		var c Checkpoint
		if json.Unmarshal([]byte(e.After), &c) == nil && c.Through == v.first.Seq-1 && c.Hash == v.first.Prev {
			v.pruned = true
		}
	}
	v.noted = v.noted || e.Seq == v.Noted.Seq
	v.last = e
	return true
}

func (v *Verifier) refuse(e Entry, why string) { v.broken = &Broken{e.Seq, e.ID, why} }

// Verdict returns the result, after the last entry.
func (v *Verifier) Verdict() Verdict {
	if v.broken == nil && v.rows > 0 && v.first.Seq > 1 && !v.pruned && !v.Partial {
		v.refuse(v.first, "entries before it are missing, and no later entry says that they were pruned")
	}
	if v.broken == nil && v.Noted.Seq > 0 && !v.noted && v.Noted.Seq >= v.first.Seq {
		v.broken = &Broken{Seq: v.Noted.Seq, Why: fmt.Sprintf("this entry was noted earlier and is missing: the chain ends at entry %d",
			v.last.Seq)}
	}
	out := Verdict{Holds: v.broken == nil, Rows: v.rows, First: v.first.Seq, Head: Head{v.last.Seq, v.last.Hash}, Broken: v.broken}
	if v.pruned {
		out.Pruned = v.first.Seq - 1
	}
	return out
}
