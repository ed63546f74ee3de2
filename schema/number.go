package schema

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// ErrNotNumber says that a text has no form of a number.
var ErrNotNumber = errors.New("it is not a number; write one such as 1500 or 0.5")

// A NumberRefused is a number in a form that programs read differently, or that no JSON can hold.
type NumberRefused struct{ Detail, Hint string }

func (e *NumberRefused) Error() string { return e.Detail + "; " + e.Hint }

var (
	decimalForm = regexp.MustCompile(`^([-+]?)(\d+(?:\.\d*)?|\.\d+)([eE][-+]?\d+)?$`)
	baseForm    = regexp.MustCompile(`^[-+]?0[xXoObB][0-9a-fA-F_]+$`)
	groupedForm = regexp.MustCompile(`^[-+]?\d[\d_]*_[\d_]*(?:\.[\d_]*)?$`)
	notFinite   = regexp.MustCompile(`^(?:[-+]?\.?(?i:inf|infinity)|\.?(?i:nan))$`)
	octalDigits = regexp.MustCompile(`^[-+]?0[0-7]+$`)
)

// ReadNumber reads a number as people write it in files, lists, flags and settings, and returns it as
// JSON. It takes decimal digits only: 010 is 8 to some programs and 10 to others, so the error, a
// NumberRefused, names both.
func ReadNumber(text string) (string, error) {
	refused := func(detail string, write ...string) error {
		return &NumberRefused{detail, "write " + strings.Join(write, " or ")}
	}
	switch m := decimalForm.FindStringSubmatch(text); {
	case notFinite.MatchString(text):
		return "", refused(text+" is not a number that a robot can use", "a finite number")
	case baseForm.MatchString(text):
		n, err := strconv.ParseInt(text, 0, 64)
		if err != nil {
			return "", ErrNotNumber
		}
		base := map[byte]string{'x': "hexadecimal", 'o': "octal", 'b': "binary"}[strings.ToLower(strings.TrimLeft(text, "-+"))[1]]
		return "", refused(text+" is "+base, strconv.FormatInt(n, 10))
	case groupedForm.MatchString(text):
		bare := strings.ReplaceAll(text, "_", "")
		return "", refused(fmt.Sprintf("%s is %s to some programs, and a text to others", text, bare), bare)
	case m == nil:
		return "", ErrNotNumber
	default:
		sign, digits := strings.TrimPrefix(m[1], "+"), m[2]
		whole, part, _ := strings.Cut(digits, ".")
		bare := strings.TrimLeft(whole, "0")
		if bare == "" {
			bare = "0"
		}
		if part != "" {
			part = "." + part
		}
		number := sign + bare + part + m[3]
		if n, err := strconv.ParseInt(text, 8, 64); octalDigits.MatchString(text) && err == nil && strconv.FormatInt(n, 10) != number {
			return "", refused(fmt.Sprintf("%s is %s in decimal and %d in octal", text, number, n), number, strconv.FormatInt(n, 10))
		}
		if whole != bare && whole != "" {
			return "", refused(text+" begins with 0, which marks an octal number to some programs", number)
		}
		return number, nil
	}
}

// withWholeNumbers writes each number without a fraction as an integer: 12000.0 and 1.2e4 as 12000.
// Programs without a type of integers, such as spreadsheets, write them so.
func withWholeNumbers(data []byte) (out []byte, changed bool) {
	d := jsontext.NewDecoder(strings.NewReader(string(data)))
	done := 0
	for {
		token, err := d.ReadToken()
		if err != nil { // the end, or an error that is reported elsewhere
			return append(out, data[done:]...), changed
		}
		if token.Kind() != '0' || !strings.ContainsAny(token.String(), ".eE") {
			continue
		}
		if v, err := token.Float(); err == nil && v == math.Trunc(v) && math.Abs(v) <= maxInt {
			end := int(d.InputOffset())
			out = append(out, data[done:end-len(token.String())]...)
			out = strconv.AppendInt(out, int64(v), 10)
			done, changed = end, true
		}
	}
}

// ReadFloat reads a number as ReadNumber does.
func ReadFloat(text string) (float64, error) {
	number, err := ReadNumber(text)
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, ErrNotNumber
	}
	return v, nil
}

// ReadWhole reads an integer as ReadNumber does; 12000.0 is one.
func ReadWhole(text string) (int64, error) {
	v, err := ReadFloat(text)
	if err == nil && (v != math.Trunc(v) || math.Abs(v) > maxInt) {
		err = errors.New("it is not a whole number")
	}
	return int64(v), err
}

// NumberFlag is a numeric flag of a command line that takes numbers as ReadNumber reads them: pflag
// itself reads 010 as 8.
type NumberFlag struct {
	Flag interface {
		String() string
		Set(text string) error
		Type() string
	}
}

func (f NumberFlag) String() string { return f.Flag.String() }
func (f NumberFlag) Type() string   { return f.Flag.Type() }

// Set sets the flag.
func (f NumberFlag) Set(text string) error {
	number, err := ReadNumber(text)
	if refused := (*NumberRefused)(nil); errors.As(err, &refused) {
		return err
	}
	if n, notWhole := ReadWhole(text); err == nil && notWhole == nil {
		number = strconv.FormatInt(n, 10)
	} else if err != nil {
		number = text // for its own error
	}
	return f.Flag.Set(number)
}

// IsNumeric reports whether a flag of this type, as pflag names it, is a number.
func IsNumeric(flagType string) bool {
	return slices.Contains([]string{"int", "int32", "int64", "uint", "uint32", "uint64", "float32", "float64"}, flagType)
}
