// Package disktest damages a robot's data as faulty disks, cables and power cuts do, to
// test how robotd reacts.
package disktest

import (
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// Damage returns a copy of a robot.db with one kind of damage and a description of it.
// The seed determines the damage completely.
func Damage(seed uint64, file []byte) (what string, damaged []byte) {
	size := int(binary.NativeEndian.Uint32(file[24:])) // page size according to the first meta page
	d := damage{rand.New(rand.NewPCG(seed, 0)), slices.Clone(file), size}
	kinds := []struct {
		what string
		do   func(*damage)
	}{
		{"64 bits flipped anywhere", func(d *damage) { d.flip(64, d.anywhere) }},
		{"one bit flipped anywhere", func(d *damage) { d.flip(1, d.anywhere) }},
		{"one bit flipped in a page's header", func(d *damage) { d.flip(1, d.inHeader) }},
		{"8 bits flipped in headers and tables of pages", func(d *damage) { d.flip(8, d.inTable) }},
		{"both meta pages altered with valid checksums", (*damage).forgeMeta},
		{"a sector of noise", func(d *damage) { d.noise(d.sector()) }},
		{"a sector of zeros", func(d *damage) { clear(d.sector()) }},
		{"a page overwritten by another", func(d *damage) { copy(d.pageAt(d.page()), d.pageAt(d.page())) }},
		{"a page overwritten by another, with its own id", func(d *damage) {
			to := d.page()
			copy(d.pageAt(to), d.pageAt(d.page()))
			binary.NativeEndian.PutUint64(d.pageAt(to), uint64(to))
		}},
		{"truncated", func(d *damage) { d.file = d.file[:d.IntN(len(d.file))] }},
	}
	k := kinds[seed%uint64(len(kinds))]
	k.do(&d)
	return k.what, d.file
}

type damage struct {
	*rand.Rand
	file     []byte
	pageSize int
}

func (d *damage) page() int { return d.IntN(len(d.file) / d.pageSize) }

func (d *damage) pageAt(n int) []byte { return d.file[n*d.pageSize : (n+1)*d.pageSize] }

func (d *damage) sector() []byte {
	n := d.IntN(len(d.file) / 512)
	return d.file[n*512 : (n+1)*512]
}

func (d *damage) anywhere() int { return d.IntN(len(d.file)) }
func (d *damage) inHeader() int { return d.page()*d.pageSize + d.IntN(16) }
func (d *damage) inTable() int  { return d.page()*d.pageSize + d.IntN(64) }

func (d *damage) flip(bits int, where func() int) {
	for range bits {
		d.file[where()] ^= 1 << d.IntN(8)
	}
}

func (d *damage) noise(b []byte) {
	for i := range b {
		b[i] = byte(d.Uint32())
	}
}

// forgeMeta alters the root, the list of free pages or the number of pages in both meta
// pages and updates their checksums.
func (d *damage) forgeMeta() {
	field := []int{16, 32, 40}[d.IntN(3)]
	to := uint64(d.page())
	if d.IntN(4) == 0 {
		to = d.Uint64()
	}
	for n := range 2 {
		m := d.pageAt(n)[16:]
		binary.NativeEndian.PutUint64(m[field:], to)
		sum := fnv.New64a()
		_, _ = sum.Write(m[:56])
		binary.NativeEndian.PutUint64(m[56:], sum.Sum64())
	}
}
