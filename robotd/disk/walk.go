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

// The file as bbolt lays it out, in the byte order of the machine. A page is a
// header (id, flags, count, overflow), then count elements of 16 bytes, then the
// elements' keys and values one after the other in the same order.
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

	manyFree = 0xFFFF // a freelist's count stands in its first place

	deepest = 40       // levels of a tree; 128 MiB need four
	widest  = 32 << 20 // bytes of one page with its overflow; a few records at most share one
)

var order = binary.NativeEndian

// walker reads a file of bbolt page by page and believes nothing: bbolt itself
// trusts its pages, and damaged ones make it crash, or loop and allocate without
// end. It reads with ReadAt, not through a mapping, so that no damage can fault;
// it visits a page once, so that it ends; and it holds one page at a time.
type walker struct {
	file io.ReaderAt
	page int64  // bytes of one
	end  uint64 // no page has this id or a higher one
	used []bool // by id
	buf  []byte
}

// walk returns an error unless everything that bbolt trusts holds in the file: the
// newest meta page, the ids, kinds and bounds of all pages, the order of the keys,
// and that every page is used once or free once.
func walk(file io.ReaderAt, size int64) error {
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
	if err := w.tree(m.root, true); err != nil {
		return err
	}
	if err := w.freelist(m.freelist); err != nil {
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

// newestMeta finds the meta page that bbolt takes: the newest of two that is whole.
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
			continue // the other one is left
		}
		if slot == 0 {
			page = m.page // bbolt lets the first meta page say where the second is
		}
		if m.page != page || int64(m.tx%2) != slot || int64(order.Uint64(b[:])) != slot || kind(b[:]) != metaFlag {
			return meta{}, fmt.Errorf("meta page %d is another one's", slot)
		}
		if !found || m.tx > newest.tx {
			newest, found = m, true
		}
	}
	if !found {
		return meta{}, errors.New("neither of its two meta pages is whole")
	}
	return newest, nil
}

func readMeta(b []byte) (meta, bool) {
	sum := fnv.New64a()
	sum.Write(b[:metaBytes-8])
	m := meta{page: int64(order.Uint32(b[8:])), root: order.Uint64(b[16:]), freelist: order.Uint64(b[32:]), end: order.Uint64(b[40:]), tx: order.Uint64(b[48:])}
	whole := order.Uint32(b) == storeMagic && order.Uint32(b[4:]) == storeVersion && order.Uint64(b[56:]) == sum.Sum64()
	return m, whole && m.page >= 1024 && m.page <= 64<<10 && m.page&(m.page-1) == 0 && m.end >= 4
}

// readAt reads a place that lies within the file.
func readAt(file io.ReaderAt, b []byte, at int64) error {
	if _, err := file.ReadAt(b, at); err != nil {
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("it ends at or before byte %d", at+int64(len(b)))
		}
		return err
	}
	return nil
}

// use marks pages; each is used once.
func (w *walker) use(id, n uint64) error {
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

// read brings a page with its overflow; what it returns is overwritten by the next.
func (w *walker) read(id uint64) ([]byte, error) {
	if err := w.use(id, 1); err != nil {
		return nil, err
	}
	var header [headerBytes]byte
	if err := readAt(w.file, header[:], int64(id)*w.page); err != nil {
		return nil, err
	}
	if is := order.Uint64(header[:]); is != id {
		return nil, fmt.Errorf("page %d says that it is page %d", id, is)
	}
	more := uint64(order.Uint32(header[12:]))
	if more > 0 {
		if err := w.use(id+1, more); err != nil {
			return nil, err
		}
	}
	size := int64(1+more) * w.page
	if size > widest {
		return nil, fmt.Errorf("page %d has %d bytes", id, size)
	}
	w.buf = slices.Grow(w.buf[:0], int(size))[:size]
	return w.buf, readAt(w.file, w.buf, int64(id)*w.page)
}

func kind(page []byte) uint16 { return order.Uint16(page[8:]) }
func count(page []byte) int   { return int(order.Uint16(page[10:])) }

// element is a child of a branch, or a key with its value.
type element struct {
	key, value []byte
	child      uint64
	bucket     bool
}

// elements reads a branch or a leaf. Keys ascend and lie, with their values, behind
// the last element without a gap, as bbolt writes them.
func elements(page []byte) ([]element, error) {
	if len(page) < headerBytes {
		return nil, errors.New("it is shorter than its header")
	}
	leaf := kind(page) == leafFlag
	if !leaf && kind(page) != branchFlag {
		return nil, fmt.Errorf("it is neither a branch nor a leaf (%#x)", kind(page))
	}
	n := count(page)
	next := uint64(headerBytes + n*elementBytes)
	if next > uint64(len(page)) {
		return nil, fmt.Errorf("its %d elements do not fit it", n)
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
			return nil, fmt.Errorf("element %d lies outside of its place", i)
		}
		e.key, e.value = page[start:start+keyBytes], page[start+keyBytes:next]
		if i > 0 && bytes.Compare(all[i-1].key, e.key) >= 0 {
			return nil, fmt.Errorf("the key of element %d is out of order", i)
		}
		all = append(all, e)
	}
	return all, nil
}

// tree walks a bucket from its root page. The top one holds buckets alone, and
// those hold none.
func (w *walker) tree(root uint64, top bool) error { return w.branch(root, nil, nil, top, 0) }

// branch walks a page and all below it. Its keys begin with first, which its parent
// repeats, and lie below limit; the root has no parent.
func (w *walker) branch(id uint64, first, limit []byte, top bool, depth int) error {
	damage := func(err error) error { return fmt.Errorf("page %d: %w", id, err) }
	page, err := w.read(id)
	if err != nil {
		return err
	}
	all, err := elements(page)
	if err != nil {
		return damage(err)
	}
	leaf := kind(page) == leafFlag
	switch {
	case depth > deepest:
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
		return w.leaf(id, all, top)
	}
	for i := range all { // the page is overwritten by those below it
		all[i].key = bytes.Clone(all[i].key)
	}
	for i, e := range all {
		below := limit
		if i+1 < len(all) {
			below = all[i+1].key
		}
		if err := w.branch(e.child, e.key, below, top, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// leaf looks at what a leaf holds: values, or in the top tree buckets.
func (w *walker) leaf(id uint64, all []element, top bool) error {
	var roots []uint64
	for _, e := range all {
		switch {
		case e.bucket != top:
			return fmt.Errorf("page %d: %q is a bucket (%v) in the wrong place", id, e.key, e.bucket)
		case !top:
			continue
		case len(e.value) < bucketBytes:
			return fmt.Errorf("bucket %q has no head", e.key)
		}
		if root := order.Uint64(e.value); root != 0 {
			if roots = append(roots, root); len(e.value) != bucketBytes {
				return fmt.Errorf("bucket %q has two contents", e.key)
			}
			continue
		}
		if err := inline(e.value[bucketBytes:]); err != nil {
			return fmt.Errorf("bucket %q: %w", e.key, err)
		}
	}
	for _, root := range roots {
		if err := w.tree(root, false); err != nil {
			return err
		}
	}
	return nil
}

// inline looks at the only page of a bucket that is so small that it lies within
// its parent's leaf.
func inline(page []byte) error {
	all, err := elements(page)
	switch {
	case err != nil:
		return err
	case kind(page) != leafFlag || order.Uint64(page) != 0 || order.Uint32(page[12:]) != 0:
		return errors.New("it is no leaf without a place of its own")
	case slices.ContainsFunc(all, func(e element) bool { return e.bucket }):
		return errors.New("it holds a bucket")
	}
	return nil
}

// freelist walks the pages that are free.
func (w *walker) freelist(id uint64) error {
	page, err := w.read(id)
	if err != nil {
		return err
	}
	if kind(page) != freelistFlag {
		return fmt.Errorf("page %d is no list of free pages (%#x)", id, kind(page))
	}
	ids, n := page[headerBytes:], uint64(count(page))
	if n == manyFree {
		n, ids = order.Uint64(ids), ids[8:]
	}
	if n > uint64(len(ids)/8) {
		return fmt.Errorf("page %d lists %d free pages, which do not fit it", id, n)
	}
	before := uint64(0)
	for i := range n {
		free := order.Uint64(ids[i*8:])
		if free <= before {
			return fmt.Errorf("page %d: the list of free pages is out of order", id)
		}
		if err := w.use(free, 1); err != nil {
			return fmt.Errorf("a free page: %w", err)
		}
		before = free
	}
	return nil
}
