package main

import (
	"bytes"
	"encoding/binary"
	"testing"

	"troupe/deploy/library"
)

func TestShippedSoundsAreGenerated(t *testing.T) {
	shipped, err := library.Sounds()
	if err != nil {
		t.Fatal(err)
	}
	made := all()
	for _, d := range shipped {
		if !bytes.Equal(d.Text, made[d.ID]) {
			t.Errorf("%s is not what makesounds makes: go generate ./deploy/library", d.Path)
		}
	}
	if len(shipped) != len(made) {
		t.Errorf("%d sounds ship, makesounds makes %d", len(shipped), len(made))
	}
}

// A loop begins and ends silently, and no sound is cut for being too loud.
func TestSoundsNeitherCrackNorClip(t *testing.T) {
	for name, file := range all() {
		if binary.LittleEndian.Uint16(file[34:]) != 16 {
			continue // water, which is noise throughout
		}
		loudest, n := 0, (len(file)-44)/2
		for i := range n {
			v := int(int16(binary.LittleEndian.Uint16(file[44+2*i:])))
			loudest = max(loudest, v, -v)
			if (i == 0 || i == n-1) && max(v, -v) > 300 {
				t.Errorf("%s begins or ends with %d", name, v)
			}
		}
		if loudest < 0x1800 || loudest > 0x7f00 {
			t.Errorf("%s has a peak of %d", name, loudest)
		}
	}
}
