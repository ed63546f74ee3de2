package site

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"strconv"

	"troupe/schema"
	"troupe/schema/score"
)

// None stands for a site where robots without one have a map.
const None = "-"

// Map says where the image of a site's floor lies. Coordinates are those in which its robots say where they are.
type Map struct {
	ResolutionM float64 `json:"resolution_m" doc:"metres of one pixel"`
	XM          float64 `json:"x_m" doc:"where the lower left corner of the image lies"`
	YM          float64 `json:"y_m" doc:"where the lower left corner of the image lies"`
	ThetaRad    float64 `json:"theta_rad,omitzero" doc:"how the image is turned around that corner, counterclockwise"`
	MapSHA256   string  `json:"map_sha256,omitempty" doc:"digest of the robots' map that it shows; left out: of each map of the site"`
	Image
}

// Image is what is known of an image besides its bytes.
type Image struct {
	SHA256 string `json:"sha256" doc:"digest of the image"`
	Size   int64  `json:"size" doc:"bytes of the image"`
	Width  int    `json:"width" doc:"pixels"`
	Height int    `json:"height" doc:"pixels"`
}

// Bounds of maps. An image within maxPixels needs at most 12 bytes a pixel, 192 MiB, while it is decoded or negated, beside its PNG.
const (
	maxPixels     = 1 << 24
	maxResolution = 10     // metres of one pixel
	maxOffset     = 10_000 // metres
)

// Problems returns what is wrong with where the image lies.
func (m Map) Problems() (found []schema.Problem) {
	if !(m.ResolutionM > 0 && m.ResolutionM <= maxResolution) {
		found = append(found, schema.NewProblem("/resolution_m", "out_of_range",
			fmt.Sprintf("a pixel of %v m is not more than 0 and at most %d", m.ResolutionM, maxResolution),
			"write how many metres a pixel is, such as 0.05"))
	}
	for _, of := range []struct {
		name        string
		value, most float64
	}{{"x_m", m.XM, maxOffset}, {"y_m", m.YM, maxOffset}, {"theta_rad", m.ThetaRad, 2 * math.Pi}} {
		if !(math.Abs(of.value) <= of.most) {
			found = append(found, schema.NewProblem("/"+of.name, "out_of_range", fmt.Sprintf("%v is not within %v of 0", of.value, of.most), ""))
		}
	}
	if raw, err := hex.DecodeString(m.MapSHA256); m.MapSHA256 != "" && (err != nil || len(raw) != sha256.Size) {
		found = append(found, schema.NewProblem("/map_sha256", "bad_value", fmt.Sprintf("%q is no SHA-256", m.MapSHA256),
			"fleetd robot get shows the map on which a robot is"))
	}
	return found
}

// ReadImage makes a PNG of the image of a map: PNG, or PGM as ROS saves maps. With negate, black becomes white. The PNG is always
// written anew, so it is a whole image, and has nothing but pixels.
func ReadImage(body []byte, negate bool) ([]byte, Image, []schema.Problem) {
	refused := func(detail, hint string) ([]byte, Image, []schema.Problem) {
		return nil, Image{}, []schema.Problem{schema.NewProblem("", "bad_image", detail, hint)}
	}
	var pixels image.Image
	var err error
	switch {
	case bytes.HasPrefix(body, []byte("\x89PNG\r\n\x1a\n")):
		pixels, err = readPNG(body)
	case bytes.HasPrefix(body, []byte("P5")), bytes.HasPrefix(body, []byte("P2")):
		pixels, err = readPGM(body)
	default:
		return refused("it is neither a PNG nor a PGM", "send the image of the map, such as map.pgm beside map.yaml")
	}
	if err != nil {
		return refused(err.Error(), "")
	}
	if negate {
		pixels = negated(pixels)
	}
	var out boundedBuffer
	if err := png.Encode(&out, pixels); err != nil {
		return refused("write it as a PNG: "+err.Error(), "")
	}
	sum := sha256.Sum256(out.written)
	size := pixels.Bounds().Size()
	return out.written, Image{hex.EncodeToString(sum[:]), int64(len(out.written)), size.X, size.Y}, nil
}

// boundedBuffer takes no more than an asset may have.
type boundedBuffer struct{ written []byte }

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if len(b.written)+len(p) > score.MaxAsset {
		return 0, fmt.Errorf("it has over %d bytes", score.MaxAsset)
	}
	b.written = append(b.written, p...)
	return len(p), nil
}

func checkPixels(width, height int) error {
	if width < 1 || height < 1 || width > maxPixels || height > maxPixels || width*height > maxPixels {
		return fmt.Errorf("it has %d x %d pixels, and at most %d are allowed", width, height, maxPixels)
	}
	return nil
}

func readPNG(body []byte) (image.Image, error) {
	head, err := png.DecodeConfig(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("read the PNG: %w", err)
	}
	if err := checkPixels(head.Width, head.Height); err != nil {
		return nil, err
	}
	if head.ColorModel == color.RGBA64Model || head.ColorModel == color.NRGBA64Model {
		return nil, errors.New("it has 16 bits for each colour, and 8 are allowed")
	}
	pixels, err := png.Decode(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("read the PNG: %w", err)
	}
	return pixels, nil
}

// readPGM reads one grey image in binary (P5) or in decimal numbers (P2).
func readPGM(body []byte) (image.Image, error) {
	binary, rest := body[1] == '5', body[2:]
	var head [3]int // width, height, greatest value
	for i := range head {
		word, after := pgmWord(rest)
		n, err := strconv.Atoi(string(word))
		if err != nil || n < 1 {
			return nil, errors.New("read the PGM: its head does not name width, height and the greatest value")
		}
		head[i], rest = n, after
	}
	width, height, greatest := head[0], head[1], head[2]
	if err := checkPixels(width, height); err != nil {
		return nil, err
	}
	if greatest > math.MaxUint16 {
		return nil, fmt.Errorf("read the PGM: its greatest value %d is over 65535", greatest)
	}
	cut := fmt.Errorf("read the PGM: it ends before the last of its %d x %d pixels", width, height)
	bytesEach := 1
	if greatest > math.MaxUint8 {
		bytesEach = 2
	}
	if binary {
		rest = rest[min(1, len(rest)):] // one white space after the head
	}
	if binary && len(rest) < width*height*bytesEach || len(rest) < width*height { // a number in decimals has a byte at least
		return nil, cut
	}
	pixels := image.NewGray(image.Rect(0, 0, width, height))
	for i := range pixels.Pix {
		var value int
		switch {
		case !binary:
			word, after := pgmWord(rest)
			n, err := strconv.Atoi(string(word))
			if len(word) == 0 {
				return nil, cut
			}
			if err != nil || n < 0 {
				return nil, fmt.Errorf("read the PGM: %.20q is no grey value", word)
			}
			value, rest = n, after
		case bytesEach == 2:
			value = int(rest[2*i])<<8 | int(rest[2*i+1])
		default:
			value = int(rest[i])
		}
		pixels.Pix[i] = uint8(min(value, greatest) * math.MaxUint8 / greatest)
	}
	return pixels, nil
}

// pgmWord returns the next word of a PGM, after white space and comments.
func pgmWord(b []byte) (word, rest []byte) {
	for len(b) > 0 {
		switch {
		case b[0] == '#':
			end := bytes.IndexByte(b, '\n')
			if end < 0 {
				return nil, nil
			}
			b = b[end:]
		case isSpace(b[0]):
			b = b[1:]
		default:
			end := 0
			for end < len(b) && !isSpace(b[end]) {
				end++
			}
			return b[:end], b[end:]
		}
	}
	return nil, nil
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// negated has light for dark. It stays grey if it is.
func negated(of image.Image) image.Image {
	if grey, is := of.(*image.Gray); is {
		for i := range grey.Pix {
			grey.Pix[i] = math.MaxUint8 - grey.Pix[i]
		}
		return grey
	}
	out := image.NewNRGBA(of.Bounds())
	for y := out.Rect.Min.Y; y < out.Rect.Max.Y; y++ {
		for x := out.Rect.Min.X; x < out.Rect.Max.X; x++ {
			c, _ := color.NRGBAModel.Convert(of.At(x, y)).(color.NRGBA)
			out.SetNRGBA(x, y, color.NRGBA{math.MaxUint8 - c.R, math.MaxUint8 - c.G, math.MaxUint8 - c.B, c.A})
		}
	}
	return out
}
