package library

import (
	"bytes"
	"strings"
	"testing"

	"troupe/fleetd/audit"
	"troupe/schema/score"
)

func TestMediaTypeIsDetectedFromBytes(t *testing.T) {
	for body, want := range map[string]Media{
		"RIFF\x24\x00\x00\x00WAVEfmt ": MediaWAV, "OggS\x00\x02": MediaOgg, "fLaC\x00": MediaFLAC, "ID3\x04\x00": MediaMP3,
		"\xff\xfb\x90\x64": MediaMP3, "\xff\xf3\x40\xc0": MediaMP3, "\x89PNG\r\n\x1a\n": MediaPNG, "\xff\xd8\xff\xe0": MediaJPEG,
		"RIFF\x24\x00\x00\x00AVI ": "", "RIFF": "", "GIF89a": "", "<svg/>": "", "": "", "\xff\xfb": "", "\xff\xfe\x00\x00": "",
		"\xff\xff\xff\xff": "",
		"MZ\x90\x00":       "", "<html>": "", "OggX": "",
	} {
		if got, ok := MediaOf([]byte(body)); got != want || ok != (want != "") {
			t.Errorf("%q is detected as %q, want %q", body, got, want)
		}
	}
}

func TestInvalidAssetIsRefusedWithHint(t *testing.T) {
	full := newWorld().rows()
	full.FileBytes = MaxFiles - 5
	for what, row := range map[string]struct {
		rows Rows
		name string
		body []byte
		code string
	}{
		"an invalid name":      {Rows{}, "My Gong.wav", fileOf("sound", "x"), score.CodeBadID},
		"an empty file":        {Rows{}, "gong", nil, "empty"},
		"a program":            {Rows{}, "gong", []byte("#!/bin/sh"), CodeUnknownMedia},
		"an SVG":               {Rows{}, "gong", fileOf("drawing", ""), CodeUnknownMedia},
		"one byte too many":    {Rows{}, "gong", append(fileOf("sound", ""), bytes.Repeat([]byte("x"), score.MaxAsset-43)...), score.CodeTooBig},
		"a full fleetd":        {full, "gong", fileOf("sound", "x"), score.CodeTooBig},
		"an image for a sound": {Rows{Assets: []Asset{{Name: "gong", SHA256: "a", Media: MediaWAV}}}, "gong", fileOf("picture", ""), CodeTaken},
	} {
		up, problems := PutAsset(row.rows, row.name, row.body, audit.Attribution{})
		if len(problems) != 1 || problems[0].Code != row.code || problems[0].Hint == "" || !up.Changes.Empty() {
			t.Errorf("%s: %+v, %v", what, problems, up.Changes.Notes)
		}
	}
	whole := append(fileOf("sound", ""), bytes.Repeat([]byte("x"), score.MaxAsset-44)...)
	if up, problems := PutAsset(Rows{}, "gong", whole, audit.Attribution{}); len(problems) > 0 || up.Asset.Size != score.MaxAsset {
		t.Errorf("the largest: %+v, %v", up.Asset, problems)
	}
}

func TestStoryWithTooLargeFilesIsNotPublished(t *testing.T) {
	w := newWorld()
	var acts []string
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		up, problems := PutAsset(w.rows(), "sound-"+id, append(fileOf("sound", id), bytes.Repeat([]byte("x"), 15<<20)...), w.by("x"))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		w.apply(t, up.Changes)
		saved, _ := Save(w.rows(), KindAct, actText(id, "smile+sound-"+id), nil, w.by("x"))
		w.apply(t, saved.Changes)
		p, _ := Publish(w.rows(), KindAct, id, nil, w.by("x"))
		w.apply(t, p.Changes)
		acts = append(acts, id)
	}
	for n, accepted := range map[int]bool{4: true, 5: false} {
		saved, _ := Save(w.rows(), KindStory, storyText("x", acts[:n]), nil, w.by("x"))
		w.apply(t, saved.Changes)
		p, problems := Publish(w.rows(), KindStory, "x", nil, w.by("x"))
		if accepted != (len(problems) == 0) || !accepted && (problems[0].Pointer != "/assets" || !strings.Contains(problems[0].Detail,
			"together")) {
			t.Errorf("%d files of 15 MiB: %v", n, problems)
		}
		w.apply(t, p.Changes)
	}
}
