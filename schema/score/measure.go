package score

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// measure is a unit of measure of quantities in files, or one that authors write in place of it.
type measure struct {
	name    string // as the end of a field's name
	words   string
	kind    string  // units of one kind can be converted
	factor  float64 // to the first unit of its kind
	example string
}

var measures = []measure{
	{"ms", "milliseconds", "time", 1, "1500"},
	{"s", "seconds", "time", 1000, ""},
	{"sec", "seconds", "time", 1000, ""},
	{"min", "minutes", "time", 60_000, ""},
	{"rad", "radians", "angle", 1, "0.4"},
	{"deg", "degrees", "angle", math.Pi / 180, ""},
	{"°", "degrees", "angle", math.Pi / 180, ""},
	{"m", "metres", "length", 1, "1.5"},
	{"cm", "centimetres", "length", 0.01, ""},
	{"mm", "millimetres", "length", 0.001, ""},
	{"mps", "metres per second", "speed", 1, "0.5"},
	{"m/s", "metres per second", "speed", 1, ""},
	{"kmh", "kilometres per hour", "speed", 1 / 3.6, ""},
	{"km/h", "kilometres per hour", "speed", 1 / 3.6, ""},
	{"radps", "radians per second", "turn", 1, "0.5"},
	{"degps", "degrees per second", "turn", math.Pi / 180, ""},
}

func measureNamed(name string) (measure, bool) {
	i := slices.IndexFunc(measures, func(u measure) bool { return u.name == name })
	if i < 0 {
		return measure{}, false
	}
	return measures[i], true
}

// cutMeasure splits the name of a field into what it says and its unit.
func cutMeasure(name string) (base string, u measure, ok bool) {
	i := strings.LastIndexByte(name, '_')
	if i <= 0 {
		return name, measure{}, false
	}
	u, ok = measureNamed(name[i+1:])
	return name[:i], u, ok
}

var quantityForm = regexp.MustCompile(`^\s*([-+]?[0-9.]+)\s*([a-zA-Z°/]+)\s*$`)

// quantity splits a text such as 30deg or "1.5 s".
func quantity(text string) (float64, measure, bool) {
	m := quantityForm.FindStringSubmatch(text)
	if m == nil {
		return 0, measure{}, false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	name := strings.ToLower(m[2])
	if cut, ok := strings.CutSuffix(name, "rees"); ok {
		name = cut // degrees
	}
	u, ok := measureNamed(name)
	return n, u, ok && err == nil
}

// convert converts a quantity and returns it with as many digits as an author writes.
func convert(n float64, from, to measure) (string, bool) {
	if from.kind != to.kind {
		return "", false
	}
	v := n * from.factor / to.factor
	if to.name == "ms" {
		v = math.Round(v)
	} else {
		v = math.Round(v*1000) / 1000
	}
	return strconv.FormatFloat(v, 'f', -1, 64), true
}

// inMeasure completes a hint with the value of a field in its own unit.
func inMeasure(field string, to, from measure, value any) string {
	n, ok := value.(float64)
	v, can := convert(n, from, to)
	if !ok || !can {
		return ", in " + to.words
	}
	return fmt.Sprintf(": %s (%v %s are %s %s)", v, n, from.words, v, to.words)
}
