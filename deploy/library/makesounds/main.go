// Command makesounds makes the sounds of the library, so that nobody else has rights to
// them. It counts in integers only: every machine makes the same bytes.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// rate is the number of samples in a second.
const rate = 8000

func main() {
	for name, file := range all() {
		if err := os.WriteFile(filepath.Join("sounds", name+".wav"), file, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "makesounds:", err)
			os.Exit(1)
		}
	}
}

// all returns the WAV files by name.
func all() map[string][]byte {
	return map[string][]byte{
		"fountain": fountain(),
		"purr":     purr(),
		"tick":     tick(),
		"goodbye":  melody(2400, goodbye...),
		"lullaby":  melody(8400, lullaby...),
		"waltz":    melody(6000, waltz...),
	}
}

// A note has a tone in millihertz; its volume is in percent. It fades to a third in fade
// milliseconds.
type note struct{ tone, atMS, fade, volume int }

// Tones from c3 to a5.
const (
	c3, g3, a3 = 130_813, 195_998, 220_000
	c4, d4, e4 = 261_626, 293_665, 329_628
	f4, g4, a4 = 349_228, 391_995, 440_000
	b4         = 493_883
	c5, d5, e5 = 523_251, 587_330, 659_255
	f5, g5, a5 = 698_456, 783_991, 880_000
)

var (
	// Three bells, downwards.
	goodbye = []note{{g5, 0, 500, 34}, {e5, 450, 500, 34}, {c5, 900, 700, 36}, {c4, 900, 700, 20}}

	// A music box in six-eight time, 350 ms an eighth, that ends as it begins.
	lullaby = slices.Concat(
		bass(2100, 16, c4, f4, g4, c4),
		line(350, 900, 24, e5, 0, g5, e5, 0, c5, f5, 0, a5, g5, 0, 0, d5, 0, f5, e5, 0, d5, c5, 0, 0, 0, 0, 0),
	)

	// Four bars of 1500 ms: a bass on the first beat, chords on the others.
	waltz = slices.Concat(
		bass(1500, 34, c3, a3, g3, c3),
		chords(e4, g4), at(1500, chords(c4, e4)), at(3000, chords(b4, f4)), at(4500, chords(e4, g4)),
		line(500, 500, 30, e5, 0, g5, e5, 0, c5, d5, f5, b4, c5, 0, 0),
	)
)

// bass plays one low tone each bar.
func bass(bar, volume int, tones ...int) (notes []note) {
	for i, tone := range tones {
		notes = append(notes, note{tone, i * bar, 700, volume})
	}
	return notes
}

// chords plays the second and third beat of the waltz.
func chords(tones ...int) (notes []note) {
	for _, tone := range tones {
		notes = append(notes, note{tone, 500, 130, 14}, note{tone, 1000, 130, 12})
	}
	return notes
}

func at(ms int, notes []note) []note {
	for i := range notes {
		notes[i].atMS += ms
	}
	return notes
}

// line plays one tone a beat; 0 is a rest.
func line(beat, fade, volume int, tones ...int) (notes []note) {
	for i, tone := range tones {
		if tone != 0 {
			notes = append(notes, note{tone, i * beat, fade, volume})
		}
	}
	return notes
}

// melody mixes notes, each with two overtones. What is left of a note at the end is cut
// within 50 ms, so that a loop does not crack.
func melody(lengthMS int, notes ...note) []byte {
	mix := make([]int, lengthMS*rate/1000)
	for _, n := range notes {
		level := n.volume << 16 / 100
		for i := n.atMS * rate / 1000; i < len(mix); i++ {
			since := i - n.atMS*rate/1000
			rise := min(since*8, 256) // 4 ms
			tone := 4*sine(n.tone, since) + sine(2*n.tone, since) + sine(3*n.tone, since)/2
			mix[i] += tone / 6 * level >> 16 * rise >> 8
			level -= level / (n.fade * rate / 1000)
		}
	}
	const end = 50 * rate / 1000
	for i := range end {
		mix[len(mix)-1-i] = mix[len(mix)-1-i] * i / end
	}
	return wav(16, mix)
}

// sine is a tone after so many samples, -32767 to 32767: a parabola for each half wave.
func sine(tone, samples int) int {
	const second = rate * 1000 // of a tone of one millihertz
	phase := int(int64(tone) * int64(samples) % second * 65536 / second)
	x := phase & 0x7fff
	y := min(x*(0x8000-x)>>13, 0x7fff)
	if phase >= 0x8000 {
		return -y
	}
	return y
}

// noise is a shift register.
type noise uint32

func (r *noise) next() int {
	*r ^= *r << 13
	*r ^= *r >> 17
	*r ^= *r << 5
	return int(*r % 64)
}

// fountain is water, with falling drops.
func fountain() []byte {
	mix := make([]int, 12000)
	register, hiss := noise(1), 0
	for n := range mix {
		hiss += (register.next() - 32 - hiss) / 3 // a low-pass filter
		drop, since := 0, n%2600                  // a triangle that rises and fades
		if period := 18 - since/60; since < 600 && period > 6 {
			drop = (since%period*2 - period) * (600 - since) / 600 * 3
		}
		mix[n] = 128 + hiss + drop
	}
	return wav(8, mix)
}

// purr is a low hum, 24 strokes a second.
func purr() []byte {
	mix := make([]int, 1600*rate/1000)
	register, hum := noise(7), 0
	for i := range mix {
		hum += ((register.next()-32)*500 - hum) / 12
		stroke := (sine(24_000, i) + 0x8000) / 2
		swell := min(i, len(mix)-i, rate/4) * 4
		mix[i] = (hum + sine(72_000, i)/3) * stroke >> 15 * swell / rate
	}
	return wav(16, mix)
}

// tick is a wood block.
func tick() []byte {
	return melody(200, note{1_250_000, 0, 22, 60}, note{1_870_000, 0, 12, 30})
}

// wav packs samples of 8 or 16 bits; too large ones are cut.
func wav(bits int, mix []int) []byte {
	size := len(mix) * bits / 8
	b := append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(36+size))...)
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, 1) // PCM
	b = binary.LittleEndian.AppendUint16(b, 1) // one channel
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint32(b, uint32(rate*bits/8))
	b = binary.LittleEndian.AppendUint16(b, uint16(bits/8))
	b = binary.LittleEndian.AppendUint16(b, uint16(bits))
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	for _, v := range mix {
		if bits == 8 {
			b = append(b, uint8(min(max(v, 0), 255)))
		} else {
			b = binary.LittleEndian.AppendUint16(b, uint16(int16(min(max(v, -0x7fff), 0x7fff))))
		}
	}
	return b
}
