package cond

import (
	"slices"
	"time"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// Keys lists the keys that the condition names, in alphabetical order. Its truth changes
// only with their values, and with the time since what Sinces lists.
func (c *Condition) Keys() []string {
	var keys []string
	for _, p := range c.parts {
		keys = append(keys, p.keys...)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// SinceUse is a since_s of a condition.
type SinceUse struct {
	Name string // empty if it is not a literal
	// Limit is what since_s is compared with: the comparison changes only when so much
	// time has passed. 0 if it is not compared with a literal: then any time may change it.
	Limit time.Duration
}

// Sinces lists the uses of since_s.
func (c *Condition) Sinces() []SinceUse { return c.sinces }

func sincesOf(e ast.Expr) (uses []SinceUse) {
	var limited []int64 // ids of uses that are compared with a literal
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || !slices.Contains(comparisons, e.AsCall().FunctionName()) {
			return
		}
		args := e.AsCall().Args()
		for i, arg := range args {
			name, is := sinceName(arg)
			limit, literal := seconds(args[1-i])
			if is && literal && name != "" {
				limited = append(limited, arg.ID())
				uses = append(uses, SinceUse{name, limit})
			}
		}
	}))
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if name, is := sinceName(e); is && !slices.Contains(limited, e.ID()) {
			uses = append(uses, SinceUse{Name: name})
		}
	}))
	return uses
}

var comparisons = []string{operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals}

// sinceName reports whether e is a since_s, and of what.
func sinceName(e ast.Expr) (name string, is bool) {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.Index {
		return "", false
	}
	args := e.AsCall().Args()
	if args[0].Kind() != ast.IdentKind || args[0].AsIdent() != Since {
		return "", false
	}
	if args[1].Kind() == ast.LiteralKind {
		if text, ok := args[1].AsLiteral().(types.String); ok {
			name = string(text)
		}
	}
	return name, true
}

func seconds(e ast.Expr) (time.Duration, bool) {
	if e.Kind() != ast.LiteralKind {
		return 0, false
	}
	v, ok := e.AsLiteral().(types.Double) // since_s is one, and cel compares only equal types
	if s := float64(v); ok && s > 0 && s < 1e9 {
		return time.Duration(s * float64(time.Second)), true
	}
	return 0, false
}
