package disk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"
)

// The layout of a bbolt file, in the byte order of the machine. A page is a header (id,
// flags, count, overflow), then count elements of 16 bytes, then the keys and values of
// the elements in the same order.
const (
	storeMagic   = 0xED0CDAED
	storeVersion = 2

	headerBytes  = 16 // of a page
	elementBytes = 16 // of a branch and of a leaf
	bucketBytes  = 16 // root page and sequence; a small bucket's only page follows
	metaBytes    = 64 // without the page's header

	branchFlag   = 0x01
	leafFlag     = 0x02
	metaFlag     = 0x04
	freelistFlag = 0x10
	bucketFlag   = 0x01 // of a leaf's element

	countInFirstEntry = 0xFFFF // the count of the freelist is in its first entry instead

	maxDepth     = 40       // levels of a tree; 128 MiB needs four
	maxPageBytes = 32 << 20 // bytes of one page with its overflow; at most a few records share a page
)

var order = binary.NativeEndian

// walker checks a bbolt file page by page. bbolt itself trusts its pages; damaged pages
// make it crash, loop or allocate without end. The walker reads with ReadAt instead of
// a mapping, so that damage cannot cause a fault; it visits each page once, so that it
// terminates; and it keeps one page in memory at a time.
type walker struct {
	file io.ReaderAt
	page int64  // size of a page in bytes
	end  uint64 // all page ids are lower
	used []bool // by page id
	buf  []byte
}

// checkFile checks everything that bbolt trusts: the newest meta page, the ids, kinds and
// bounds of all pages, the order of the keys, and that every page is either used once
// or free once.
func checkFile(file io.ReaderAt, size int64) error {
	m, err := newestMeta(file, size)
	if err != nil {
		return err
	}
	w := &walker{file: file, page: m.page, end: m.end}
	if m.end > uint64(size/m.page) {
		return fmt.Errorf("it has %d bytes and should have %d pages of %d", size, m.end, m.page)
	}
	w.used = make([]bool, m.end)
	w.used[0], w.used[1] = true, true
	if err := w.checkTree(m.root, true); err != nil {
		return err
	}
	if err := w.checkFreelist(m.freelist); err != nil {
		return err
	}
	if id := slices.Index(w.used, false); id >= 0 {
		return fmt.Errorf("page %d is neither used nor free", id)
	}
	return nil
}

type meta struct {
	page                int64
	root, freelist, end uint64
	tx                  uint64
}

// newestMeta finds the meta page that bbolt uses: the newest valid one of two.
func newestMeta(file io.ReaderAt, size int64) (newest meta, err error) {
	found := false
	page := int64(os.Getpagesize())
	for slot := range int64(2) {
		if size < slot*page+headerBytes+metaBytes {
			break
		}
		var b [headerBytes + metaBytes]byte
		if err := readAt(file, b[:], slot*page); err != nil {
			return meta{}, err
		}
		m, ok := readMeta(b[headerBytes:])
		if !ok {
			continue // the other one may be valid
		}
		if slot == 0 {
			page = m.page // bbolt takes the position of the second meta page from the first
		}
		if m.page != page || int64(m.tx%2) != slot || int64(order.Uint64(b[:])) != slot || pageKind(b[:]) != metaFlag {
			return meta{}, fmt.Errorf("meta page %d belongs to another slot or page size", slot)
		}
		if !found || m.tx > newest.tx {
			newest, found = m, true
		}
	}
	if !found {
		return meta{}, errors.New("neither of its two meta pages is valid")
	}
	return newest, nil
}

func readMeta(b []byte) (meta, bool) {
	sum := fnv.New64a()
	sum.Write(b[:metaBytes-8])
	m := meta{page: int64(order.Uint32(b[8:])), root: order.Uint64(b[16:]), freelist: order.Uint64(b[32:]), end: order.Uint64(b[40:]),
		tx: order.Uint64(b[48:])}
	valid := order.Uint32(b) == storeMagic && order.Uint32(b[4:]) == storeVersion && order.Uint64(b[56:]) == sum.Sum64()
	return m, valid && m.page >= 1024 && m.page <= 64<<10 && m.page&(m.page-1) == 0 && m.end >= 4
}

// readAt fills b from an offset that should be within the file.
func readAt(file io.ReaderAt, b []byte, at int64) error {
	if _, err := file.ReadAt(b, at); err != nil {
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("it ends at or before byte %d", at+int64(len(b)))
		}
		return err
	}
	return nil
}

// markUsed marks n pages from id as used; a page may be used only once.
func (w *walker) markUsed(id, n uint64) error {
	if id < 2 || id >= w.end || n > w.end-id {
		return fmt.Errorf("page %d with %d more lies outside of the file's %d pages", id, n-1, w.end)
	}
	for i := id; i < id+n; i++ {
		if w.used[i] {
			return fmt.Errorf("page %d is used twice", i)
		}
		w.used[i] = true
	}
	return nil
}

// readPage reads a page with its overflow. The next read overwrites the returned slice.
func (w *walker) readPage(id uint64) ([]byte, error) {
	if err := w.markUsed(id, 1); err != nil {
		return nil, err
	}
	var header [headerBytes]byte
	if err := readAt(w.file, header[:], int64(id)*w.page); err != nil {
		return nil, err
	}
	if is := order.Uint64(header[:]); is != id {
		return nil, fmt.Errorf("page %d has the id %d in its header", id, is)
	}
	more := uint64(order.Uint32(header[12:]))
	if more > 0 {
		if err := w.markUsed(id+1, more); err != nil {
			return nil, err
		}
	}
	size := int64(1+more) * w.page
	if size > maxPageBytes {
		return nil, fmt.Errorf("page %d has %d bytes", id, size)
	}
	w.buf = slices.Grow(w.buf[:0], int(size))[:size]
	return w.buf, readAt(w.file, w.buf, int64(id)*w.page)
}

func pageKind(page []byte) uint16  { return order.Uint16(page[8:]) }
func elementCount(page []byte) int { return int(order.Uint16(page[10:])) }

// element is a child of a branch page, or a key with its value of a leaf page.
type element struct {
	key, value []byte
	child      uint64
	bucket     bool
}

// elements reads the elements of a branch or leaf page. It checks that the keys ascend
// and that keys and values follow the elements without a gap, as bbolt writes them.
func elements(page []byte) ([]element, error) {
	if len(page) < headerBytes {
		return nil, errors.New("it is shorter than its header")
	}
	leaf := pageKind(page) == leafFlag
	if !leaf && pageKind(page) != branchFlag {
		return nil, fmt.Errorf("it is neither a branch nor a leaf (%#x)", pageKind(page))
	}
	n := elementCount(page)
	next := uint64(headerBytes + n*elementBytes)
	if next > uint64(len(page)) {
		return nil, fmt.Errorf("its %d elements do not fit in it", n)
	}
	all := make([]element, 0, n)
	for i := range n {
		at := uint64(headerBytes + i*elementBytes)
		b := page[at : at+elementBytes]
		var e element
		var pos, keyBytes, valueBytes uint64
		if leaf {
			flags := order.Uint32(b)
			if flags > bucketFlag {
				return nil, fmt.Errorf("element %d has the flags %#x", i, flags)
			}
			e.bucket = flags == bucketFlag
			pos, keyBytes, valueBytes = uint64(order.Uint32(b[4:])), uint64(order.Uint32(b[8:])), uint64(order.Uint32(b[12:]))
		} else {
			pos, keyBytes, e.child = uint64(order.Uint32(b)), uint64(order.Uint32(b[4:])), order.Uint64(b[8:])
		}
		start := next
		next += keyBytes + valueBytes
		if at+pos != start || keyBytes == 0 || next > uint64(len(page)) {
			return nil, fmt.Errorf("the data of element %d is not where it should be", i)
		}
		e.key, e.value = page[start:start+keyBytes], page[start+keyBytes:next]
		if i > 0 && bytes.Compare(all[i-1].key, e.key) >= 0 {
			return nil, fmt.Errorf("the key of element %d is out of order", i)
		}
		all = append(all, e)
	}
	return all, nil
}

// checkTree checks a bucket from its root page. The top bucket contains only buckets, and
// those contain none.
func (w *walker) checkTree(root uint64, top bool) error { return w.checkPage(root, nil, nil, top, 0) }

// checkPage checks a page and all pages below it. The first key of the page must be first,
// as its parent states, and all keys must be less than limit. A root page has neither.
func (w *walker) checkPage(id uint64, first, limit []byte, top bool, depth int) error {
	damage := func(err error) error { return fmt.Errorf("page %d: %w", id, err) }
	page, err := w.readPage(id)
	if err != nil {
		return err
	}
	all, err := elements(page)
	if err != nil {
		return damage(err)
	}
	leaf := pageKind(page) == leafFlag
	switch {
	case depth > maxDepth:
		return damage(errors.New("the tree is too deep"))
	case len(all) == 0:
		if leaf && depth == 0 {
			return nil
		}
		return damage(errors.New("it is empty"))
	case first != nil && !bytes.Equal(all[0].key, first), limit != nil && bytes.Compare(all[len(all)-1].key, limit) >= 0:
		return damage(errors.New("its keys are not those that its parent names"))
	}
	if leaf {
		return w.checkLeaf(id, all, top)
	}
	for i := range all { // reading the pages below overwrites this one
		all[i].key = bytes.Clone(all[i].key)
	}
	for i, e := range all {
		below := limit
		if i+1 < len(all) {
			below = all[i+1].key
		}
		if err := w.checkPage(e.child, e.key, below, top, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// checkLeaf checks the elements of a leaf page: values, or buckets in the top tree.
func (w *walker) checkLeaf(id uint64, all []element, top bool) error {
	var roots []uint64
	for _, e := range all {
		switch {
		case e.bucket != top:
			return fmt.Errorf("page %d: %q is a bucket (%v) in the wrong place", id, e.key, e.bucket)
		case !top:
			continue
		case len(e.value) < bucketBytes:
			return fmt.Errorf("bucket %q has no header", e.key)
		}
		if root := order.Uint64(e.value); root != 0 {
			if roots = append(roots, root); len(e.value) != bucketBytes {
				return fmt.Errorf("bucket %q has both a root page and inline content", e.key)
			}
			continue
		}
		if err := checkInline(e.value[bucketBytes:]); err != nil {
			return fmt.Errorf("bucket %q: %w", e.key, err)
		}
	}
	for _, root := range roots {
		if err := w.checkTree(root, false); err != nil {
			return err
		}
	}
	return nil
}

// checkInline checks the only page of a small bucket that bbolt stores within its parent's
// leaf page.
func checkInline(page []byte) error {
	all, err := elements(page)
	switch {
	case err != nil:
		return err
	case pageKind(page) != leafFlag || order.Uint64(page) != 0 || order.Uint32(page[12:]) != 0:
		return errors.New("it is not an inline leaf page")
	case slices.ContainsFunc(all, func(e element) bool { return e.bucket }):
		return errors.New("it contains a bucket")
	}
	return nil
}

// checkFreelist checks the list of free pages.
func (w *walker) checkFreelist(id uint64) error {
	page, err := w.readPage(id)
	if err != nil {
		return err
	}
	if pageKind(page) != freelistFlag {
		return fmt.Errorf("page %d is not a list of free pages (%#x)", id, pageKind(page))
	}
	ids, n := page[headerBytes:], uint64(elementCount(page))
	if n == countInFirstEntry {
		n, ids = order.Uint64(ids), ids[8:]
	}
	if n > uint64(len(ids)/8) {
		return fmt.Errorf("page %d lists %d free pages, which do not fit in it", id, n)
	}
	before := uint64(0)
	for i := range n {
		free := order.Uint64(ids[i*8:])
		if free <= before {
			return fmt.Errorf("page %d: the list of free pages is out of order", id)
		}
		if err := w.markUsed(free, 1); err != nil {
			return fmt.Errorf("free page: %w", err)
		}
		before = free
	}
	return nil
}
