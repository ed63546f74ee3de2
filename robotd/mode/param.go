package mode

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
)

// Parameter is a value of a mode that people set while the robot runs; it takes effect at
// once. Its type is a number, an integer, a boolean or a word.
type Parameter struct {
	schema.ConfigKey
	Unit    string         // for people; empty if it has none
	Default jsontext.Value // unless somebody sets another
}

// ParameterTypes are the types that a parameter may have.
var ParameterTypes = []schema.ConfigType{schema.ConfigNumber, schema.ConfigInteger, schema.ConfigBoolean, schema.ConfigWord}

// Value returns the value of a parameter of the mode that is called. It panics, so that the call
// fails, if the mode has no parameter of that name.
func Value[T any](h *Host, name string) T {
	var v T
	if err := json.Unmarshal(h.params.value(h.id, name), &v); err != nil {
		panic(fmt.Sprintf("parameter %s of %s: %v", name, h.id, err))
	}
	return v
}

// params are the parameters of all modes, with the values that people gave them.
type params struct {
	installed []Installed
	set       map[paramName]jsontext.Value // empty: it was reset
}

type paramName struct {
	mode schema.ModeID
	name string
}

func (p *params) of(m schema.ModeID) []Parameter {
	for i := range p.installed {
		if p.installed[i].ID == m {
			return p.installed[i].Params
		}
	}
	return nil
}

// value returns the value of a parameter, or nil if there is no such parameter.
func (p *params) value(m schema.ModeID, name string) jsontext.Value {
	if v := p.set[paramName{m, name}]; len(v) > 0 {
		return v
	}
	for _, one := range p.of(m) {
		if one.Name == name {
			return one.Default
		}
	}
	return nil
}

// SetParam sets a parameter, or resets it to its default if v is empty. It returns the answer
// to the request and the value before.
func (r *Runner) SetParam(m schema.ModeID, name string, v jsontext.Value) (a schema.Verdict, was jsontext.Value) {
	refuse := func(res schema.Result, why schema.Reason, pointer, detail string) (schema.Verdict, jsontext.Value) {
		a := rejected(res, why, detail)
		a.Pointer = pointer
		return a, nil
	}
	if r.Installed(m).ID == "" {
		return refuse(schema.ResultNoMode, schema.ReasonUnknownMode, "/args/mode",
			fmt.Sprintf("there is no mode %s; the document modes lists them", m))
	}
	all := r.params.of(m)
	i := slices.IndexFunc(all, func(p Parameter) bool { return p.Name == name })
	if i < 0 {
		names := make([]string, len(all))
		for i, p := range all {
			names[i] = p.Name
		}
		return refuse(schema.ResultInvCmd, schema.ReasonBadRequest, "/args/name", fmt.Sprintf("%s has no parameter %s; it has %s", m, name,
			cmp.Or(strings.Join(names, ", "), "none")))
	}
	p := all[i]
	if len(v) == 0 {
		v = p.Default
	}
	if wrong := p.Check(v); wrong != "" {
		return refuse(schema.ResultInvCmd, schema.ReasonOutOfRange, "/args/value", name+": "+wrong)
	}
	was, v = r.params.value(m, name), v.Clone()
	if err := v.Canonicalize(); err != nil { // Check has read it
		return refuse(schema.ResultInvCmd, schema.ReasonBadRequest, "/args/value", err.Error())
	}
	if string(v) == string(was) {
		return unchanged(name + " of " + string(m) + " already is " + string(v)), was
	}
	if string(v) == string(p.Default) {
		v = nil
	}
	r.params.set[paramName{m, name}] = v
	return succeeded(), was
}

// Param returns the value of a parameter.
func (r *Runner) Param(m schema.ModeID, name string) jsontext.Value { return r.params.value(m, name) }

// ParamSet is a parameter that somebody set.
type ParamSet struct {
	Mode  schema.ModeID
	Name  string
	Value jsontext.Value // empty: it was reset to its default
}

// ParamsSet lists the parameters that were set since robotd started, or are not the default.
func (r *Runner) ParamsSet() []ParamSet {
	var list []ParamSet
	for _, m := range r.installed {
		for _, p := range m.Params {
			if v, ok := r.params.set[paramName{m.ID, p.Name}]; ok {
				list = append(list, ParamSet{m.ID, p.Name, v})
			}
		}
	}
	return list
}

// Params describes the parameters of a mode, with their values.
func (r *Runner) Params(m schema.ModeID) []schema.ModeParam {
	var list []schema.ModeParam
	for _, p := range r.params.of(m) {
		d := schema.ModeParam{Name: p.Name, Type: p.Type, Unit: p.Unit, OneOf: p.OneOf, Default: p.Default, Value: r.params.value(m, p.Name),
			Purpose: p.Purpose}
		if p.Type == schema.ConfigNumber || p.Type == schema.ConfigInteger {
			d.Min, d.Max = &p.Min, &p.Max
		}
		list = append(list, d)
	}
	return list
}
