package deploy

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestChangelogBeginsWithNextRelease holds the head of CHANGELOG.md to the release that programs name.
func TestChangelogBeginsWithNextRelease(t *testing.T) {
	t.Parallel()
	next, err := os.ReadFile("../schema/build/NEXT")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	heads := regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(string(text), -1)
	form := regexp.MustCompile(`^(v\d+\.\d+\.\d+) \((not released|\d{4}-\d\d-\d\d)\)$`)
	for i, head := range heads {
		version := form.FindStringSubmatch(head[1])
		switch {
		case version == nil:
			t.Errorf("the heading %q is not of the form v0.3.0 (not released) or v0.3.0 (2026-12-31)", head[1])
		case i == 0 && version[1] != strings.TrimSpace(string(next)):
			t.Errorf("the first release is %s, and programs say that the next one is %s", version[1], next)
		case i > 0 && version[2] == "not released":
			t.Errorf("%s is not released, and a later release is", version[1])
		}
	}
	if len(heads) == 0 {
		t.Error("no release in CHANGELOG.md")
	}
}
