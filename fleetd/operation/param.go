package operation

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Param is one parameter of an operation.
type Param struct {
	In   string // path, query or body
	Name string // in the request
	Flag string // of the command; empty if it has none
	// Unit is of the tag cli: ms = a duration on the command line, when = how long ago or a time, choice = refused by the
	// command if it is none of Enum; empty = as in the request.
	Unit     string
	Initial  string // tag cli: what the command sends if the flag is not given
	Type     reflect.Type
	Doc      string
	Default  string   // in the request
	Enum     []string // allowed values
	Required bool
	Explode  bool // a list in the query repeats the name, and is not one value with commas
}

// otherFlags are the flags that are not named like their parameters; empty = no flag: --by is a flag of every command. The
// tag cli takes precedence.
var otherFlags = map[string]string{"expected_count": "expect", "by": "", "acts": "with-act"}

// paramsByType are the parameters by the type of the input. Without them reflection takes a third of the time in which a
// command starts.
var paramsByType sync.Map

// Params lists the parameters of an operation, those of the path first. The caller must not change the list.
func (o Operation) Params() []Param {
	if known, is := paramsByType.Load(o.In); is {
		return known.([]Param)
	}
	var path, others []Param
	for _, p := range paramsOf(o.In, "") {
		if p.In == "path" {
			path = append(path, p)
		} else {
			others = append(others, p)
		}
	}
	all := append(path, others...)
	paramsByType.Store(o.In, all)
	return all
}

// paramsOf lists the parameters among the fields of a struct; in is where they are if no tag says so.
func paramsOf(t reflect.Type, in string) (out []Param) {
	for f := range t.Fields() {
		switch name, where := placeOf(f.Tag); {
		case f.Name == "Body" && in == "" && f.Type.Kind() == reflect.Struct:
			out = append(out, paramsOf(f.Type, "body")...)
		case where == "" && f.Anonymous && f.Type.Kind() == reflect.Struct:
			out = append(out, paramsOf(f.Type, in)...)
		case where == "" || where == "body" && in != "body" || name == "-":
		default:
			out = append(out, paramOf(f, where, name, in == "body" && !strings.Contains(f.Tag.Get("json"), ",omit")))
		}
	}
	return out
}

func paramOf(f reflect.StructField, where, name string, required bool) Param {
	flag, unit, _ := strings.Cut(f.Tag.Get("cli"), ",")
	unit, initial, _ := strings.Cut(unit, ",")
	if flag == "" {
		other, named := otherFlags[name]
		if flag = strings.ReplaceAll(name, "_", "-"); named {
			flag = other
		}
	}
	p := Param{
		In: where, Name: name, Flag: strings.TrimSuffix(flag, "-"), Unit: unit, Initial: initial, Type: f.Type, Doc: f.Tag.Get("doc"),
		Default: f.Tag.Get("default"),
		Explode: strings.Contains(f.Tag.Get("query"), ",explode"), Required: required || f.Tag.Get("required") == "true",
	}
	if enum := f.Tag.Get("enum"); enum != "" {
		p.Enum = strings.Split(enum, ",")
	}
	return p
}

// placeOf returns the name of a field in the request, and where it is there.
func placeOf(tag reflect.StructTag) (name, where string) {
	for _, where := range []string{"path", "query"} {
		if name, _, _ = strings.Cut(tag.Get(where), ","); name != "" {
			return name, where
		}
	}
	if name, _, _ = strings.Cut(tag.Get("json"), ","); name != "" {
		return name, "body"
	}
	return "", ""
}

// Argument is a word of a command line that stands for a parameter, or for none: then the command has code of its own.
type Argument struct {
	Param
	Word            string // such as ROBOT
	Optional, Again bool   // it may be left out; it may be given several times
	Joined          bool   // commas join several: ACT[,ACT...]
}

// isNamed reports whether a word of Use stands for a parameter that is not of the path.
func (p Param) isNamed(word string) bool {
	one, ofY := strings.TrimSuffix(p.Name, "s"), strings.TrimSuffix(p.Name, "ies")+"y"
	return slices.Contains([]string{p.Flag, p.Name, one, ofY}, strings.ToLower(word))
}

// CommandLine returns the words of the command in Use, its arguments and its flags. ROBOT... stands for the robots that a
// selector names, and is no argument. The caller must not change the lists.
func (o Operation) CommandLine() (words []string, arguments []Argument, flags []Param) {
	flags = o.Params()
	selects := slices.ContainsFunc(flags, func(p Param) bool { return p.Name == "selector" })
	for word := range strings.FieldsSeq(o.Use) {
		bare, _, joined := strings.Cut(word, "[,")
		bare = strings.Trim(strings.TrimSuffix(strings.Trim(bare, "[]"), "..."), "[]")
		switch {
		case bare != strings.ToUpper(bare):
			words = append(words, word)
			continue
		case selects && strings.Trim(word, "[]") == "ROBOT...":
			continue
		}
		i := 0 // the next one of the path
		for i < len(flags) && flags[i].In != "path" && !flags[i].isNamed(bare) {
			i++
		}
		a := Argument{Word: bare, Optional: strings.HasPrefix(word, "["), Again: !joined && strings.Contains(word, "..."), Joined: joined}
		if i < len(flags) {
			a.Param = flags[i]
			flags = append(flags[:i:i], flags[i+1:]...)
		}
		arguments = append(arguments, a)
	}
	return words, arguments, flags
}
