package library

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/audit"
	"troupe/schema"
	"troupe/schema/score"
)

// Asset is a sound or an image under the name that acts use, or a map to which a set of places
// refers.
type Asset struct {
	Name      string
	SHA256    string
	Size      int64
	Media     Media
	Details   Details
	ChangedAt time.Time
	ChangedBy string
}

// File is the bytes of an asset, identified by their digest.
type File struct {
	SHA256  string
	Media   Media
	Details Details
	Body    []byte
}

// MaxFiles bounds the bytes of all files together, including older ones that published
// stories need. score.MaxAsset bounds each file.
const MaxFiles = 2 << 30

// Codes of problems with assets.
const (
	CodeUnknownMedia = "unknown_media"
	CodeUnplayable   = "unplayable"
	CodeInUse        = "in_use"
)

// Uploaded is the result of PutAsset.
type Uploaded struct {
	Asset     Asset
	Unchanged bool  // the asset had these bytes already
	Stale     []Ref // stories and activities whose newest revision uses other bytes of this asset
	Changes   Changes
}

// PutAsset plans to store a sound, an image or a map under a name. Published stories keep the bytes
// that they were published with.
func PutAsset(rows Rows, name string, body []byte, by audit.Attribution) (Uploaded, []schema.Problem) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return Uploaded{}, problems
	}
	a := Asset{Name: name, SHA256: digest(body), Size: int64(len(body)), ChangedAt: by.At, ChangedBy: by.Who}
	if a.Media, a.Details, problems = CheckFile(name, body); problems != nil {
		return Uploaded{}, problems
	}
	old, known := s.assets[name]
	switch {
	case known && old.SHA256 == a.SHA256:
		return Uploaded{Asset: old, Unchanged: true, Stale: s.staleFor(old)}, nil
	case known && old.Media.Kind() != a.Media.Kind():
		return Uploaded{}, []schema.Problem{schema.NewProblem("/name", CodeTaken, fmt.Sprintf("%s is a %s, and this is a %s", name,
			old.Media.Kind(), a.Media.Kind()), "use another name, or delete the old one first")}
	case rows.FileBytes+a.Size > MaxFiles:
		return Uploaded{}, []schema.Problem{allTooBig(rows.FileBytes + a.Size)}
	}
	s.assets[name] = a
	s.changes.Files, s.changes.Assets = []File{{a.SHA256, a.Media, a.Details, body}}, []Asset{a}
	n := s.note(by, audit.ActionPut, "asset "+name, fmt.Sprintf("%s, %d bytes", a.Media, a.Size))
	if known {
		n.Before = audit.JSON(map[string]string{"sha256": old.SHA256})
	}
	n.After = audit.JSON(map[string]string{"sha256": a.SHA256})
	s.revalidateUsers(name)
	return Uploaded{Asset: a, Stale: s.staleFor(a), Changes: s.changes}, nil
}

// ForPutFile reads what PutFile looks at.
func ForPutFile() Reading { return func(r Reader) { r.FileBytes() } }

// PutFile plans to store the bytes of a digest without a name. An apply of a folder gives them one.
func PutFile(rows Rows, sha256 string, body []byte, by audit.Attribution) (Changes, []schema.Problem) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return Changes{}, problems
	}
	if is := digest(body); is != sha256 {
		return Changes{}, []schema.Problem{schema.NewProblem("/digest", "bad_value", fmt.Sprintf("the body has the digest %s, not %s", is,
			sha256), "send exactly the bytes of this digest")}
	}
	media, details, problems := CheckFile("file", body)
	switch {
	case len(problems) > 0:
		return Changes{}, problems
	case rows.FileBytes+int64(len(body)) > MaxFiles:
		return Changes{}, []schema.Problem{allTooBig(rows.FileBytes + int64(len(body)))}
	}
	s.changes.Files = []File{{sha256, media, details, body}}
	s.note(by, audit.ActionPut, "file "+sha256, fmt.Sprintf("%s, %d bytes", media, len(body)))
	return s.changes, nil
}

func allTooBig(size int64) schema.Problem {
	return schema.NewProblem("", score.CodeTooBig, fmt.Sprintf("all files together would have %d bytes, the limit is %d", size, MaxFiles),
		"delete unused assets; their space is free a day later")
}

// CheckFile returns the media type of a file and what its header says, or why it cannot be an asset with this name.
func CheckFile(name string, body []byte) (Media, Details, []schema.Problem) {
	media, problems := checkMedia(name, body)
	if len(problems) > 0 {
		return "", Details{}, problems
	}
	d, err := detailsOf(media, body)
	if err != nil {
		hint := "convert it to 16 bits: ffmpeg -i FILE -c:a pcm_s16le NEW.wav"
		if media.Kind() == score.AssetFace {
			hint = "export it again as PNG or JPEG, of at most 16 million pixels, such as 1920 x 1080"
		}
		return "", Details{}, []schema.Problem{schema.NewProblem("", CodeUnplayable, fmt.Sprintf("%s is not usable: %v", name, err), hint)}
	}
	return media, d, nil
}

func checkMedia(name string, body []byte) (Media, []schema.Problem) {
	if !schema.ValidID(name) {
		return "", []schema.Problem{schema.NewProblem("/name", score.CodeBadID, fmt.Sprintf("%q cannot be the name of an asset", name),
			"write a to z, 0 to 9 and -, at most 63 characters")}
	}
	if len(body) == 0 {
		return "", []schema.Problem{schema.NewProblem("", "empty", "the file is empty", "send the file as the body")}
	}
	if len(body) > score.MaxAsset {
		return "", []schema.Problem{schema.NewProblem("", score.CodeTooBig, fmt.Sprintf("it has %d bytes, robots accept at most %d", len(body),
			score.MaxAsset), "make it shorter, or compress it")}
	}
	media, ok := MediaOf(body)
	if !ok {
		hint := "send WAV, Ogg, MP3 or FLAC for a sound, PNG or JPEG for a face, a JSON object for a map"
		if head := body[:min(len(body), 1024)]; bytes.Contains(head, []byte("<svg")) {
			hint = "send PNG or JPEG for a face: robots do not support SVG, which may contain programs and load other files"
		}
		return "", []schema.Problem{schema.NewProblem("", CodeUnknownMedia,
			"its contents are of no media type that robots support, whatever its name", hint)}
	}
	return media, nil
}

// staleFor lists the stories and activities whose newest revision uses other bytes of a.
func (s *snapshot) staleFor(a Asset) []Ref {
	var stale []Ref
	for _, e := range s.notDeleted(sequences...) {
		at := Ref{e.Kind, e.ID}
		for _, f := range s.published[revisionKey{at, e.Rev}].Assets {
			if f.Name == a.Name && f.Kind == a.Media.Kind() && f.SHA256 != a.SHA256 {
				stale = append(stale, at)
			}
		}
	}
	return stale
}

// Use is a published story or activity that uses an asset.
type Use struct {
	Of     Ref
	Rev    int64
	Newest bool     // it is the newest revision
	Robots []string // robots with it as default story, or among their activities
}

func (u Use) String() string {
	text := fmt.Sprintf("%s revision %d", u.Of, u.Rev)
	if len(u.Robots) > 0 {
		text += " of " + RobotsText(u.Robots)
	}
	return text
}

// Uses lists the published stories and activities that use each asset, by its name: the
// newest revisions, and older ones that some robot has.
func Uses(rows Rows) (map[string][]Use, []schema.Problem) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return nil, problems
	}
	return s.uses(), nil
}

func (s *snapshot) uses() map[string][]Use {
	all := map[string][]Use{}
	for at, b := range s.published {
		e := s.entries[at.Ref]
		u := Use{Of: at.Ref, Rev: at.rev, Newest: !e.Deleted() && at.rev == e.Rev, Robots: s.assignedTo(at.Ref, at.rev)}
		if !u.Newest && len(u.Robots) == 0 {
			continue
		}
		for _, f := range b.Assets {
			all[f.Name] = append(all[f.Name], u)
		}
	}
	for _, uses := range all {
		slices.SortFunc(uses, func(a, b Use) int {
			return cmp.Or(strings.Compare(a.Of.String(), b.Of.String()), cmp.Compare(a.Rev, b.Rev))
		})
	}
	return all
}

// DeleteAsset plans to delete an asset. It is refused while Uses lists it.
func DeleteAsset(rows Rows, name string, by audit.Attribution) (Changes, []schema.Problem) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return Changes{}, problems
	}
	if _, known := s.assets[name]; !known {
		return Changes{}, []schema.Problem{schema.NewProblem("", CodeNotFound, "there is no asset "+name, "")}
	}
	if uses := s.uses()[name]; len(uses) > 0 {
		var who []string
		for _, u := range uses {
			who = append(who, u.String())
		}
		return Changes{}, []schema.Problem{schema.NewProblem("/name", CodeInUse, "the asset "+name+" is used by "+strings.Join(who, "; "),
			"publish these without it, and assign them again")}
	}
	old := s.assets[name]
	delete(s.assets, name)
	s.changes.Removed = []string{name}
	s.note(by, audit.ActionDelete, "asset "+name, "").Before = audit.JSON(map[string]string{"sha256": old.SHA256})
	s.revalidateUsers(name)
	return s.changes, nil
}

// revalidateUsers validates again the drafts that may use an asset.
func (s *snapshot) revalidateUsers(name string) {
	touched := map[string]bool{}
	for _, e := range s.notDeleted(KindAct) {
		if a, problems := score.ParseAct(e.Draft); len(schema.Errors(problems)) == 0 && usesName(a, name) {
			s.revalidateDraft(e)
		}
		if a, published := s.acts[e.ID]; published && usesName(a, name) {
			touched[e.ID] = true
		}
	}
	for _, e := range s.notDeleted(sequences...) {
		story, problems := parseSequence(e.Kind, e.Draft)
		if len(problems) == 0 && slices.ContainsFunc(story.ActIDs(), func(act string) bool { return touched[act] }) {
			s.revalidateDraft(e)
		}
	}
}

func usesName(a score.Act, name string) bool {
	return slices.ContainsFunc(a.Named(), func(n score.Named) bool { return n.Name == name })
}

// pinnedFiles returns the files that the acts of a story use now, in a fixed order. Names without
// an asset must be in the robots' own catalogues.
func (s *snapshot) pinnedFiles(story score.Story) []score.Asset {
	found := map[score.Named]score.Asset{}
	for _, id := range score.Reached(story.ActIDs(), s.act) {
		for _, n := range s.acts[id].Named() {
			n.Pointer = ""
			if a, ok := s.assets[n.Name]; ok && a.Media.Kind() == n.Kind {
				found[n] = score.Asset{Name: a.Name, Kind: n.Kind, SHA256: a.SHA256, Size: a.Size}
			}
		}
	}
	all := slices.Collect(maps.Values(found))
	slices.SortFunc(all, func(a, b score.Asset) int {
		return strings.Compare(string(a.Kind)+" "+a.Name, string(b.Kind)+" "+b.Name)
	})
	return all
}

// stillUsed returns the files of a revision that a shortened story still uses.
func stillUsed(files []score.Asset, left score.Story, acts map[string]score.Act) []score.Asset {
	reached := score.Reached(left.ActIDs(), score.In(acts))
	return slices.DeleteFunc(slices.Clone(files), func(f score.Asset) bool {
		return !slices.ContainsFunc(reached, func(id string) bool {
			return slices.ContainsFunc(acts[id].Named(), func(n score.Named) bool { return n.Kind == f.Kind && n.Name == f.Name })
		})
	})
}

// unknownNames warns about sounds and faces that are neither an asset nor in the catalogue of a
// known robot. It is not an error, since other robots may connect.
func (s *snapshot) unknownNames(a score.Act, pointer func(n score.Named) string) []schema.Problem {
	var found []schema.Problem
	for _, n := range a.Named() {
		known := s.catalogue.Sounds
		if n.Kind == score.AssetFace {
			known = s.catalogue.Faces
		}
		if asset, ok := s.assets[n.Name]; known == nil || slices.Contains(known, n.Name) || ok && asset.Media.Kind() == n.Kind {
			continue
		}
		hint := "upload it under this name: fleetd asset put FILE --name NAME"
		names := slices.Clone(known)
		for _, asset := range s.assets {
			if asset.Media.Kind() == n.Kind {
				names = append(names, asset.Name)
			}
		}
		slices.Sort(names)
		if near := schema.Closest(n.Name, slices.Compact(names)); near != "" {
			hint += ", or write " + near
		}
		found = append(found, schema.Problem{Pointer: pointer(n), Severity: schema.SeverityWarning, Code: score.CodeNotInCatalogue,
			Detail: fmt.Sprintf("no known robot has the %s %q, and there is no asset with this name", n.Kind, n.Name), Hint: hint})
	}
	return found
}
