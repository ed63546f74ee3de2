package cond

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"troupe/schema"
)

// MaxLength bounds the text of a condition, in bytes.
const MaxLength = 1000

// What one evaluation may cost, in the units of cel-go (about one per operator), and
// how deeply parentheses may nest. Without loops only the search in a long text
// comes near the limit.
const (
	maxCost  = 10_000
	maxDepth = 32
)

// environment is what conditions are compiled in.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.ParserExpressionSizeLimit(MaxLength),
		cel.ParserRecursionLimit(maxDepth),
		// Of the macros only has(labels.x) stays: the others are loops.
		cel.EnableMacroCallTracking(), // Explain prints since_s as it was written
		cel.ClearMacros(),
		cel.Macros(cel.HasMacro, cel.GlobalMacro("since_s", 1, sinceCall)),
		cel.Variable(Since, cel.MapType(cel.StringType, cel.DoubleType)),
	}
	for _, k := range Keys {
		options = append(options, cel.VariableWithDoc(k.Name, k.Type.cel(), k.Doc))
	}
	return cel.NewEnv(options...)
})

// sinceCall turns since_s("name") into a lookup in the map of times, so that a name without a
// time is a missing fact.
func sinceCall(f cel.MacroExprFactory, _ ast.Expr, args []ast.Expr) (ast.Expr, *common.Error) {
	return f.NewCall(operators.Index, f.NewIdent(Since), args[0]), nil
}

// Condition is a condition that can be evaluated. It is not changed, and may be
// shared.
type Condition struct {
	text    string
	program cel.Program
	parts   []part // the operands of the outermost &&; one if there is no &&
	sinces  []SinceUse
}

type part struct {
	text    string
	keys    []string // that it names, without since_s
	program cel.Program
}

// Parse compiles a condition. Its problems point to the condition itself, with an
// empty pointer.
func Parse(text string) (*Condition, []schema.Problem) {
	refuse := func(code, detail, hint string) (*Condition, []schema.Problem) {
		return nil, []schema.Problem{{Severity: schema.SeverityError, Code: code, Detail: detail, Hint: hint}}
	}
	if strings.TrimSpace(text) == "" {
		return refuse("empty_condition", "the condition is empty", `write one, such as "people > 0"`)
	}
	if len(text) > MaxLength {
		return refuse("too_long", fmt.Sprintf("the condition has %d bytes, %d are allowed", len(text), MaxLength), "shorten it")
	}
	env, err := environment()
	if err != nil {
		return refuse("condition", fmt.Sprintf("compile conditions: %v", err), "")
	}
	checked, issues := env.Compile(text)
	if issues.Err() != nil {
		problems := make([]schema.Problem, 0, len(issues.Errors()))
		for _, e := range issues.Errors() {
			problems = append(problems, problemOf(text, e))
			if strings.HasPrefix(e.Message, "Syntax error") {
				break // the others follow from it
			}
		}
		return nil, problems
	}
	if !checked.OutputType().IsExactType(cel.BoolType) {
		return refuse("not_a_condition", fmt.Sprintf("%s is %s, which is neither true nor false", text, typeText(checked.OutputType())),
			comparison(text, checked.OutputType()))
	}
	c := &Condition{text: text}
	if c.program, err = programOf(env, checked); err != nil {
		return refuse("condition", err.Error(), "")
	}
	for _, operand := range operands(checked.NativeRep().Expr()) {
		p := part{keys: keysOf(operand)}
		if p.text, err = cel.ExprToString(operand, checked.NativeRep().SourceInfo()); err != nil {
			return refuse("condition", fmt.Sprintf("write a part of the condition: %v", err), "")
		}
		p.text = strings.TrimSpace(p.text)
		sub, issues := env.Compile(p.text)
		if issues.Err() != nil {
			return refuse("condition", fmt.Sprintf("compile the part %s: %v", p.text, issues.Err()), "")
		}
		if p.program, err = programOf(env, sub); err != nil {
			return refuse("condition", err.Error(), "")
		}
		c.parts = append(c.parts, p)
	}
	c.sinces = sincesOf(checked.NativeRep().Expr())
	return c, nil
}

func programOf(env *cel.Env, checked *cel.Ast) (cel.Program, error) {
	p, err := env.Program(checked, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(maxCost))
	if err != nil {
		return nil, fmt.Errorf("compile the condition: %w", err)
	}
	return p, nil
}

// problemOf puts an error of the compiler into words, with a key like the unknown one.
func problemOf(text string, e *cel.Error) schema.Problem {
	p := schema.Problem{Severity: schema.SeverityError, Code: "bad_condition"}
	detail, _, _ := strings.Cut(e.Message, "\n")
	if name, ok := unknownName(detail); ok {
		p.Code = "unknown_key"
		p.Detail = fmt.Sprintf("conditions have no key or function %s (character %d of %q)", name, e.Location.Column()+1, text)
		p.Hint = "the keys are " + strings.Join(names(), ", ")
		if near := schema.Closest(name, names()); near != "" {
			p.Hint = "did you mean " + near + "? " + p.Hint
		}
		return p
	}
	p.Detail, p.Hint = plainly.Replace(detail), hintOf(detail, text)
	if m := mixed.FindStringSubmatch(detail); m != nil {
		p.Detail = fmt.Sprintf("%s has %s on its left and %s on its right", m[1], typeTexts[m[2]], typeTexts[m[3]])
		p.Hint = mixedHint(text, e.Location.Column(), m[1], m[2], m[3])
	}
	p.Detail = fmt.Sprintf("%s (character %d of %q)", p.Detail, e.Location.Column()+1, text)
	return p
}

// mixed is cel-go's message about an operator between values of two types.
var mixed = regexp.MustCompile(`^found no matching overload for '_([^_]+)_' applied to '\((int|double|string|bool), (int|double|string|bool)\)'`)

// typeTexts are the types in the words of authors.
var typeTexts = map[string]string{"int": "a whole number", "double": "a number with a decimal point", "string": "a text",
	"bool": "true or false"}

func typeText(t *cel.Type) string {
	if text, ok := typeTexts[t.String()]; ok {
		return text
	}
	return "of type " + t.String()
}

// comparison shows how to make a condition of a value.
func comparison(text string, t *cel.Type) string {
	switch t.String() {
	case "int":
		return fmt.Sprintf("compare it: %s > 0", text)
	case "double":
		return fmt.Sprintf("compare it: %s > 0.5", text)
	case "string":
		return fmt.Sprintf(`compare it: %s == "a text"`, text)
	}
	return `compare it, as in people > 0`
}

// mixedHint says how to write the number beside an operator at a place of the condition.
func mixedHint(text string, at int, operator, left, right string) string {
	before, after := text[:min(at, len(text))], text[min(at+len(operator), len(text)):]
	switch {
	case left == "double" && right == "int":
		if m := numberAfter.FindStringSubmatch(after); m != nil {
			return fmt.Sprintf("write %s.0 in place of %s", m[1], m[1])
		}
	case left == "int" && right == "double":
		if m := numberBefore.FindStringSubmatch(before); m != nil {
			return fmt.Sprintf("write %s.0 in place of %s", m[1], m[1])
		} else if m := roundAfter.FindStringSubmatch(after); m != nil {
			return fmt.Sprintf("write %s in place of %s.%s", m[1], m[1], m[2])
		}
	case right == "string" && (left == "int" || left == "double"):
		return "compare it with a number, without quotes"
	case left == "string" && right != "string":
		return `compare a text with a text in quotes, such as weekday == "mon"`
	}
	return "compare values of one type; the keys and their types are in docs/authoring-reference.md"
}

var (
	numberAfter  = regexp.MustCompile(`^\s*(-?\d+)`)
	numberBefore = regexp.MustCompile(`(-?\d+)\s*$`)
	roundAfter   = regexp.MustCompile(`^\s*(-?\d+)\.(\d+)`)
)

// plainly puts words of the parser into those of authors.
var plainly = strings.NewReplacer("Syntax error: ", "", " expecting <EOF>", " does not belong here", "mismatched input ", "",
	"extraneous input ", "",
	"token recognition error at: '= '", "one = compares nothing", "token recognition error at: '='", "one = compares nothing",
	"token recognition error at: ", "it is not clear what this means: ", "no viable alternative at input ", "this is not complete: ")

// hintOf says how to correct what the compiler refuses.
func hintOf(detail, text string) string {
	words := strings.Fields(text)
	switch {
	case strings.Contains(detail, "'= '"), strings.Contains(detail, "token recognition error at: '='"):
		return "write == to compare"
	case strings.Contains(detail, "no matching overload"):
		return "compare values of one type; the keys and their types are in docs/authoring-reference.md"
	case slices.Contains(words, "and"), slices.Contains(words, "or"), slices.Contains(words, "not"):
		return "write && for and, || for or, ! for not"
	}
	return `write it as in people > 0 && weekday == "mon"; docs/authoring-reference.md has the keys and operators`
}

// unknownName is the name in cel-go's message about a name that is not declared.
func unknownName(message string) (string, bool) {
	rest, ok := strings.CutPrefix(message, "undeclared reference to '")
	if !ok {
		return "", false
	}
	name, _, ok := strings.Cut(rest, "'")
	return name, ok
}

func names() []string {
	all := make([]string, 0, len(Keys)+1)
	for _, k := range Keys {
		all = append(all, k.Name)
	}
	return append(all, `since_s("name")`)
}

func (c *Condition) String() string { return c.text }

// Eval tells whether the condition is true. A condition that depends on a missing
// fact is not: people > 0 without people is not true, and people > 0 || touch is
// true while touch is.
func (c *Condition) Eval(facts Facts) bool {
	truth, _ := evaluate(c.program, facts)
	return truth
}

var errNotBool = errors.New("the result is neither true nor false")

func evaluate(p cel.Program, facts Facts) (bool, error) {
	out, _, err := p.Eval(map[string]any(facts))
	if err != nil {
		return false, err
	}
	truth, ok := out.(types.Bool)
	if !ok {
		return false, errNotBool
	}
	return bool(truth), nil
}

// operands are the operands of the outermost &&, in the order of the text.
func operands(e ast.Expr) []ast.Expr {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.LogicalAnd {
		return []ast.Expr{e}
	}
	var all []ast.Expr
	for _, arg := range e.AsCall().Args() {
		all = append(all, operands(arg)...)
	}
	return all
}

// keysOf lists the keys that an expression names, in alphabetical order.
func keysOf(e ast.Expr) []string {
	var keys []string
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.IdentKind && e.AsIdent() != Since {
			keys = append(keys, e.AsIdent())
		}
	}))
	slices.Sort(keys)
	return slices.Compact(keys)
}
