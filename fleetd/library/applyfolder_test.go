package library

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// exportFolder requires that a folder of what is published says nothing new.
func (w *world) exportFolder(rt *rapid.T) Folder {
	f, err := FolderOf(w.rows())
	if err != nil {
		rt.Fatal(err)
	}
	by := w.by("export")
	done, found := ApplyFolder(w.rows(), f, by)
	if len(found) > 0 {
		rt.Fatalf("the exported folder is refused: %v", found)
	}
	if effects := effectsOf(done); len(effects) > 0 || !done.Changes.Empty() {
		rt.Fatalf("the exported folder has the effects %v and changes %+v", effects, done.Changes)
	}
	return f
}

// effectsOf lists what is not left as it is.
func effectsOf(done Applied) (out []string) {
	for _, t := range done.Texts {
		if t.Effect != EffectNone {
			out = append(out, string(t.Effect)+" "+t.Of.String())
		}
	}
	for _, a := range done.Assets {
		if a.Effect != EffectNone {
			out = append(out, string(a.Effect)+" asset "+a.Asset.Name)
		}
	}
	for _, r := range done.Removed {
		out = append(out, "delete "+r.Of.String())
	}
	slices.Sort(out)
	return out
}

// applyFolder changes some files of an exported folder and applies it: the library is then as the folder says, and to apply it
// again changes nothing.
func (w *world) applyFolder(rt *rapid.T) {
	f := w.exportFolder(rt)
	names := []string{"a", "b", "c", "d"}
	for range rapid.IntRange(1, 3).Draw(rt, "edits") {
		switch rapid.SampledFrom([]string{"act", "story", "comment", "asset", "remove", "remove"}).Draw(rt, "edit") {
		case "act":
			f.edit(KindAct, rapid.SampledFrom(names).Draw(rt, "name"), func(id string) []byte {
				return actText(id, rapid.SampledFrom([]string{"smile", "wink", "smile+bell", "performs:a", "wrong"}).Draw(rt, "text"))
			})
		case "story":
			acts := rapid.SliceOfN(rapid.SampledFrom(names), 0, 3).Draw(rt, "acts")
			f.edit(KindStory, rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "name"), func(id string) []byte { return storyText(id, acts) })
		case "comment":
			if len(f.Texts) > 0 {
				t := &f.Texts[rapid.IntRange(0, len(f.Texts)-1).Draw(rt, "which")]
				t.Body = append(slices.Clone(t.Body), "# a comment\n"...)
			}
		case "asset":
			body := fileOf("sound", rapid.SampledFrom([]string{"1", "2"}).Draw(rt, "bytes"))
			a := FolderAsset{"assets/bell.wav", Asset{Name: "bell", SHA256: digest(body), Size: int64(len(body)), Media: MediaWAV}}
			f.Assets = append(slices.DeleteFunc(f.Assets, func(o FolderAsset) bool { return o.Name == "bell" }), a)
			w.files[a.SHA256] = File{SHA256: a.SHA256, Media: MediaWAV, Body: body}
		case "remove":
			if len(f.Texts) > 0 {
				i := rapid.IntRange(0, len(f.Texts)-1).Draw(rt, "which")
				id := strings.TrimSuffix(path.Base(f.Texts[i].Path), ".yaml") // its text may have become unreadable
				f.Remove = append(f.Remove, Ref{f.Texts[i].Kind, id})
				f.Texts = slices.Delete(f.Texts, i, i+1)
			}
		}
	}
	f.Remove = slices.DeleteFunc(f.Remove, func(r Ref) bool {
		return slices.ContainsFunc(f.Texts, func(t FolderText) bool { return strings.HasSuffix(t.Path, "/"+r.ID+".yaml") && t.Kind == r.Kind })
	})
	by := w.by("from the folder")
	done, found := ApplyFolder(w.rows(), f, by)
	needed, foundToo := ApplyFolder(w.read(ForFolder(f)), f, by)
	if fmt.Sprint(effectsOf(done), found) != fmt.Sprint(effectsOf(needed), foundToo) {
		rt.Fatalf("from all rows       %v %v\nfrom what it needs %v %v", effectsOf(done), found, effectsOf(needed), foundToo)
	}
	if len(found) > 0 {
		if !done.Changes.Empty() {
			rt.Fatalf("refused with %v, and changes %+v", found, done.Changes)
		}
		return
	}
	if done.Changes.robots() > 0 {
		rt.Fatalf("to apply a folder gives %d robots something", done.Changes.robots())
	}
	alike(rt, "apply a folder", done, needed, nil, nil)
	before := maps.Clone(w.revisions)
	w.apply(rt, done.Changes)
	for _, t := range done.Texts {
		e := w.entries[t.Of]
		newest := w.revisions[revisionKey{t.Of, e.Rev}]
		_, had := before[revisionKey{t.Of, e.Rev}]
		stays := t.Effect == EffectNone || t.Effect == EffectText
		if had != stays && !(had && t.Effect == EffectCreate) || e.Rev != t.Rev { // what was deleted may come back as it was
			rt.Fatalf("%s %s leaves revision %d, which was there: %t", t.Effect, t.Of, e.Rev, had)
		}
		i := slices.IndexFunc(f.Texts, func(o FolderText) bool { return o.Path == t.Path })
		if !sameContent(t.Of.Kind, f.Texts[i].Body, newest) {
			rt.Fatalf("%s is not published as the folder says:\n%s\n%s", t.Of, f.Texts[i].Body, newest.Body)
		}
		if t.Effect != EffectNone && !bytes.Equal(e.Draft, f.Texts[i].Body) {
			rt.Fatalf("%s %s leaves the draft\n%s", t.Effect, t.Of, e.Draft)
		}
	}
	for _, r := range f.Remove {
		if e, was := w.entries[r]; was && r.Kind != KindAsset && !e.Deleted() { // it was not if these edits added it
			rt.Fatalf("%s is still there", r)
		}
	}
	again, found := ApplyFolder(w.rows(), f, w.by("again"))
	if len(found) > 0 || len(effectsOf(again)) > 0 || !again.Changes.Empty() {
		rt.Fatalf("applied twice: %v, effects %v", found, effectsOf(again))
	}
}

// edit replaces or adds the text of one entry.
func (f *Folder) edit(kind Kind, id string, text func(id string) []byte) {
	path := Plurals[kind] + "/" + id + ".yaml"
	i := slices.IndexFunc(f.Texts, func(t FolderText) bool { return t.Path == path })
	if i < 0 {
		i, f.Texts = len(f.Texts), append(f.Texts, FolderText{Path: path})
	}
	f.Texts[i].Source = Source{kind, text(id)}
}
