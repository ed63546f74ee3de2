package folder

import (
	"cmp"
	"fmt"
	"slices"

	"troupe/fleetd/library"
)

// Exported is a fleet as files. The bytes of the assets are got by their digests.
type Exported struct {
	Files  []File  `json:"files" doc:"in the order of their paths, the file that names the folder last"`
	Assets []Asset `json:"assets"`
	Drafts []Ref   `json:"drafts" doc:"what was never published, and what has a draft that was not: a folder has what is published"`
}

// Write returns the files of a fleet: to apply them changes nothing.
func Write(name string, state State) (Exported, error) {
	out := Exported{Files: []File{}, Assets: []Asset{}, Drafts: []Ref{}}
	all, err := library.FolderOf(state.Library)
	if err != nil {
		return out, err
	}
	for _, t := range all.Texts {
		out.Files = append(out.Files, File{t.Path, string(t.Body)})
	}
	for _, a := range all.Assets {
		out.Assets = append(out.Assets, Asset{a.Path, a.SHA256, a.Size, string(a.Media)})
	}
	for _, ref := range library.Unpublished(state.Library) {
		out.Drafts = append(out.Drafts, Ref{Kind(ref.Kind), ref.ID})
	}
	out.Files = append(out.Files, state.objects()...)
	slices.SortFunc(out.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	out.Files = append(out.Files, File{Settings, fmt.Sprintf("# The name by which fleetd knows what is applied from this folder.\n"+
		"folder: %s\n", name)})
	return out, nil
}
