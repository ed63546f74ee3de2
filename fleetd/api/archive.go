package api

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"troupe/fleetd/change"
	"troupe/fleetd/library"
	"troupe/schema/score"
)

// exported is a file to download.
type exported struct {
	ContentType string `header:"Content-Type"`
	Disposition string `header:"Content-Disposition"`
	Body        []byte
}

func fileOf(media, name string, body []byte) *exported {
	return &exported{media, fmt.Sprintf("attachment; filename=%q", name), body}
}

func (s *server) exportLibrary(ctx context.Context, kind library.Kind, ids []string, format string) (*exported, error) {
	entries, err := s.Library.Entries(ctx, kind, false)
	if err != nil {
		return nil, s.fail(err, "library")
	}
	if len(ids) > 0 {
		entries = slices.DeleteFunc(entries, func(e library.Entry) bool { return !slices.Contains(ids, e.ID) })
	}
	for _, id := range ids {
		if !slices.ContainsFunc(entries, func(e library.Entry) bool { return e.ID == id }) {
			return nil, s.fail(change.ErrNotFound, string(kind)+" "+id)
		}
	}
	name := library.Plurals[kind]
	if len(entries) == 1 {
		name = entries[0].ID
	}
	var texts [][]byte
	for _, e := range entries {
		texts = append(texts, e.Draft)
	}
	switch format {
	case "csv":
		list, err := library.WriteCSV(kind, texts)
		if err != nil {
			return nil, err
		}
		return fileOf("text/csv; charset=utf-8", name+".csv", list), nil
	case "zip":
		body, err := s.archive(ctx, entries)
		if err != nil {
			return nil, s.fail(err, "library")
		}
		return fileOf("application/zip", name+".zip", body), nil
	}
	for i := range texts {
		texts[i] = bytes.TrimRight(texts[i], "\n")
	}
	return fileOf("application/yaml", name+".yaml", append(bytes.Join(texts, []byte("\n---\n")), '\n')), nil
}

// archive packs entries with the acts and assets that they use, as a folder that publish and
// import read.
func (s *server) archive(ctx context.Context, entries []library.Entry) ([]byte, error) {
	assets, _, _, err := s.Library.Assets(ctx)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	add := func(name string, body []byte) error {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write(body)
		}
		return err
	}
	done := map[library.Ref]bool{}
	for len(entries) > 0 {
		e := entries[0]
		entries = entries[1:]
		if at := (library.Ref{Kind: e.Kind, ID: e.ID}); done[at] {
			continue
		} else {
			done[at] = true
		}
		if err := add(fmt.Sprintf("%s/%s.yaml", library.Plurals[e.Kind], e.ID), e.Draft); err != nil {
			return nil, err
		}
		for _, ref := range library.RefsOfDraft(e.Kind, e.Draft) {
			if done[ref] || ref.Kind != library.KindAct {
				continue
			}
			used, _, err := s.Library.Entry(ctx, library.KindAct, ref.ID)
			if err == nil && !used.Deleted() {
				entries = append(entries, used)
			} else if err != nil && !errors.Is(err, change.ErrNotFound) {
				return nil, err
			}
		}
		if e.Kind != library.KindAct {
			continue
		}
		act, _ := score.ParseAct(e.Draft) // a text that cannot be parsed names nothing
		for _, n := range act.Named() {
			i := slices.IndexFunc(assets, func(a library.Asset) bool { return a.Name == n.Name && a.Media.Kind() == n.Kind })
			if i < 0 {
				continue // a sound or a face of the robots' own
			}
			at := library.Ref{Kind: library.KindAsset, ID: n.Name}
			if done[at] {
				continue
			}
			done[at] = true
			f, media, err := s.Library.File(ctx, assets[i].SHA256)
			if err != nil {
				return nil, err
			}
			body, err := io.ReadAll(f)
			if err != nil {
				return nil, err
			}
			if err := add(fmt.Sprintf("%ss/%s%s", media.Kind(), assets[i].Name, media.Extension()), body); err != nil {
				return nil, err
			}
		}
	}
	err = w.Close()
	return out.Bytes(), err
}
