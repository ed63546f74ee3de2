package site_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"troupe/fleetd/site"
)

// greys are the grey values of a PNG, row by row.
func greys(t *testing.T, body []byte) (all []uint8) {
	t.Helper()
	read, err := png.Decode(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for y := range read.Bounds().Dy() {
		for x := range read.Bounds().Dx() {
			c, _ := color.GrayModel.Convert(read.At(x, y)).(color.Gray)
			all = append(all, c.Y)
		}
	}
	return all
}

func pngOf(t *testing.T, of image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, of); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestImagesOfMapsBecomePNG(t *testing.T) {
	colored := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	colored.SetNRGBA(0, 0, color.NRGBA{255, 255, 255, 255})
	colored.SetNRGBA(1, 0, color.NRGBA{0, 0, 0, 255})
	for name, c := range map[string]struct {
		body          string
		negate        bool
		width, height int
		want          []uint8
	}{
		"binary": {"P5\n# CREATOR: map_saver 0.050 m/pix\n3 2\n255\n\x00\xcd\xfe\xff\x01\x20", false, 3, 2,
			[]uint8{0, 0xcd, 0xfe, 0xff, 1, 0x20}},
		"binary, negated":       {"P5 2 1 255\n\x00\xf0", true, 2, 1, []uint8{255, 15}},
		"another greatest":      {"P5 3 1 100\n\x00\x32\x64", false, 3, 1, []uint8{0, 127, 255}},
		"over the greatest":     {"P5 1 1 100\n\xff", false, 1, 1, []uint8{255}},
		"two bytes a pixel":     {"P5 2 1 65535\n\xff\xff\x80\x00", false, 2, 1, []uint8{255, 127}},
		"decimal numbers":       {"P2\n2 2\n# grey\n4\n0 1\n2 4\n", false, 2, 2, []uint8{0, 63, 127, 255}},
		"a space is a pixel":    {"P5 2 1 255\n  ", false, 2, 1, []uint8{32, 32}},
		"PNG":                   {string(pngOf(t, colored)), false, 2, 1, []uint8{255, 0}},
		"PNG in colour, turned": {string(pngOf(t, colored)), true, 2, 1, []uint8{0, 255}},
	} {
		t.Run(name, func(t *testing.T) {
			body, got, found := site.ReadImage([]byte(c.body), c.negate)
			if len(found) > 0 {
				t.Fatal(found)
			}
			if got.Width != c.width || got.Height != c.height || int(got.Size) != len(body) || len(got.SHA256) != 64 {
				t.Errorf("got %+v of %d bytes", got, len(body))
			}
			if all := greys(t, body); !slices.Equal(all, c.want) {
				t.Errorf("got the greys %v, want %v", all, c.want)
			}
		})
	}
}

func TestBadImagesOfMapsAreRefused(t *testing.T) {
	large := pngOf(t, image.NewGray(image.Rect(0, 0, 1, 1)))
	copy(large[16:], "\x7f\xff\xff\xff\x7f\xff\xff\xff")
	deep := pngOf(t, image.NewNRGBA64(image.Rect(0, 0, 1, 1)))
	noise := make([]byte, 1<<24)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	for name, c := range map[string]struct{ body, want string }{
		"PNG of 16 bits":    {string(deep), "16 bits for each colour"},
		"a PNG over 16 MiB": {"P5 4096 4096 255\n" + string(noise), "write it as a PNG: it has over 16777216 bytes"},
		"nothing":           {"", "neither a PNG nor a PGM"},
		"SVG":               {"<svg/>", "neither a PNG nor a PGM"},
		"no head":           {"P5", "does not name width"},
		"endless comment":   {"P5 # 1 1 255", "does not name width"},
		"no pixels":         {"P5 0 3 255\n", "does not name width"},
		"cut":               {"P5 3 2 255\n12345", "ends before the last of its 3 x 2 pixels"},
		"cut numbers":       {"P2 2 1 255\n17 ", "ends before"},
		"no number":         {"P2 1 1 255\nxx", `"xx" is no grey value`},
		"greatest":          {"P5 1 1 65536\n0000", "65536 is over 65535"},
		"large":             {"P5 100000 100000 255\n", "100000 x 100000 pixels"},
		"overflowing":       {"P5 4294967296 4294967296 255\n", "pixels, and at most"},
		"PNG of many":       {string(large), "read the PNG"},
		"PNG without pixel": {"\x89PNG\r\n\x1a\n", "read the PNG"},
	} {
		t.Run(name, func(t *testing.T) {
			if body, _, found := site.ReadImage([]byte(c.body), false); len(found) != 1 || body != nil ||
				!strings.Contains(found[0].Detail, c.want) {
				t.Errorf("got %v, want %q", found, c.want)
			}
		})
	}
}

func TestMapsLieSomewhere(t *testing.T) {
	good := site.Map{ResolutionM: 0.05, XM: -12.2, YM: 3, ThetaRad: 0.1, MapSHA256: strings.Repeat("ab", 32)}
	if found := good.Problems(); len(found) > 0 {
		t.Error(found)
	}
	for pointer, change := range map[string]func(*site.Map){
		"/resolution_m": func(m *site.Map) { m.ResolutionM = 0 },
		"/x_m":          func(m *site.Map) { m.XM = math.NaN() },
		"/y_m":          func(m *site.Map) { m.YM = math.Inf(1) },
		"/theta_rad":    func(m *site.Map) { m.ThetaRad = 7 },
		"/map_sha256":   func(m *site.Map) { m.MapSHA256 = "ab" },
	} {
		bad := good
		change(&bad)
		if found := bad.Problems(); len(found) != 1 || found[0].Pointer != pointer {
			t.Errorf("%s: %v", pointer, found)
		}
	}
}

func FuzzReadImage(f *testing.F) {
	f.Add([]byte("P5\n# c\n3 2\n255\n\x00\xcd\xfe\xff\x01\x20"))
	f.Add([]byte("P2 2 1 255\n17 3"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if out, got, found := site.ReadImage(body, true); len(found) == 0 && len(greys(t, out)) != got.Width*got.Height {
			t.Errorf("%+v has %d pixels", got, len(greys(t, out)))
		}
	})
}
