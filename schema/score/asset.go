package score

import (
	"fmt"
	"slices"

	"troupe/schema"
)

// AssetKind is the purpose of a file.
type AssetKind string

const (
	AssetSound AssetKind = "sound"
	AssetFace  AssetKind = "face" // a picture, for a face or a screen
	AssetMap   AssetKind = "map"
)

// Asset is a file that a published content needs: a sound, a face or a map, identified by
// its digest. A file within the size limit of blobs is published as a blob; robots fetch
// larger ones from fleetd over HTTP.
type Asset struct {
	Name   string    `json:"name"` // as actions name it
	Kind   AssetKind `json:"kind"`
	SHA256 string    `json:"sha256"`
	Size   int64     `json:"size"` // bytes
}

// Limits of the files of one content, so that a robot's disk has space for three contents.
const (
	MaxAssets       = 64
	MaxAsset        = 16 << 20 // bytes of one file
	MaxAssetBytes   = 64 << 20 // bytes of all files together
	MaxBlobsOfFiles = 4 << 20  // bytes of all files together that are published as blobs
)

// IsBlob reports whether a is published as a blob.
func (a Asset) IsBlob() bool { return a.Size <= int64(schema.TopicOf(schema.TopicBlob).MaxBytes) }

// assets checks a list of files. reached reports whether any action uses a file.
func (c *checks) assets(pointer string, list []Asset, kinds []AssetKind, reached func(Asset) bool) {
	if len(list) > MaxAssets {
		c.add(pointer, CodeTooMany, fmt.Sprintf("%d files are over %d", len(list), MaxAssets), "use fewer")
	}
	var total, blobs int64
	for i, a := range list {
		p := at(pointer, i)
		c.asset(p, a, kinds...)
		if slices.ContainsFunc(list[:i], func(b Asset) bool { return b.Kind == a.Kind && b.Name == a.Name }) {
			c.add(at(p, "name"), CodeDuplicateID, fmt.Sprintf("there are two files for the %s %s", a.Kind, a.Name), "keep one of them")
		}
		if !reached(a) {
			c.warn(p, CodeUnreached, fmt.Sprintf("no action names the %s %s", a.Kind, a.Name), "leave the file out")
		}
		total += max(a.Size, 0)
		if a.IsBlob() {
			blobs += max(a.Size, 0)
		}
	}
	if total > MaxAssetBytes {
		c.add(pointer, CodeTooBig, fmt.Sprintf("the files have %d bytes together, over %d", total, MaxAssetBytes), "make them smaller or fewer")
	}
	if blobs > MaxBlobsOfFiles {
		c.add(pointer, CodeTooBig, fmt.Sprintf("the files that travel as blobs have %d bytes together, over %d", blobs, MaxBlobsOfFiles),
			"use fewer, or join some of them")
	}
}

func (c *checks) asset(p string, a Asset, kinds ...AssetKind) {
	c.id(at(p, "name"), a.Name)
	if !slices.Contains(kinds, a.Kind) {
		c.add(at(p, "kind"), CodeBadValue, fmt.Sprintf("%q is not a kind of file that belongs here", a.Kind), fmt.Sprintf("one of %v", kinds))
	}
	if !schema.ValidSHA256(a.SHA256) {
		c.add(at(p, "sha256"), CodeBadValue, fmt.Sprintf("%q is not a digest", a.SHA256), "64 hexadecimal digits in lower case")
	}
	if a.Size < 1 || a.Size > MaxAsset {
		c.add(at(p, "size"), CodeOutOfRange, fmt.Sprintf("%d bytes are not between 1 and %d", a.Size, MaxAsset), "make the file smaller")
	}
}

// Named is a sound or a face that an action names, built into the body or from a file.
type Named struct {
	Pointer string // within the act
	Kind    AssetKind
	Name    string
}

// Named lists the sounds and faces that a names, in the order of its text.
func (a Act) Named() []Named {
	var all []Named
	a.walk(func(p string, x *Action, _ int) {
		all = append(all, x.Named(p)...)
	})
	return all
}

// Named lists the sounds and faces that x names, when p is the pointer of x.
func (x *Action) Named(p string) (all []Named) {
	row, _ := RowOf(x.Type())
	for _, f := range row.Fields {
		if name := get[string](x, f.Name); f.File != "" && name != "" {
			all = append(all, Named{at(p, f.Name), f.File, name})
		}
	}
	return all
}

// reaches returns a function that reports whether any of acts names an asset.
func reaches(acts map[string]Act) func(Asset) bool {
	named := map[Named]bool{}
	for _, act := range acts {
		for _, n := range act.Named() {
			named[Named{"", n.Kind, n.Name}] = true
		}
	}
	return func(a Asset) bool { return named[Named{"", a.Kind, a.Name}] }
}

// WithAssets returns caps with the names of files added to the catalogues. An empty
// catalogue, which accepts any name, stays empty.
func WithAssets(caps schema.Caps, files []Asset) schema.Caps {
	if len(files) == 0 {
		return caps
	}
	caps.Units = slices.Clone(caps.Units)
	for i := range caps.Units {
		u := &caps.Units[i]
		for _, a := range files {
			switch {
			case a.Kind == AssetSound && len(u.Sounds) > 0:
				u.Sounds = append(slices.Clip(u.Sounds), a.Name)
			case a.Kind == AssetFace && len(u.Faces) > 0:
				u.Faces = append(slices.Clip(u.Faces), a.Name)
			case a.Kind == AssetFace && len(u.Images) > 0:
				u.Images = append(slices.Clip(u.Images), a.Name)
			}
		}
	}
	return caps
}
