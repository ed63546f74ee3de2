// Package enums reads the enums of package schema from their source, which alone has every value with
// its remark.
package enums

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// Enum is a type with its values in their order.
type Enum struct {
	Type   string
	Values []Value
}

// Value is one value of an enum.
type Value struct {
	Text   string
	Remark string // the comment beside it; may be empty
}

// Parse reads the groups of constants of a Go file, each of which is an enum of strings.
func Parse(src []byte) ([]Enum, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("read the enums: %w", err)
	}
	var all []Enum
	for _, d := range file.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.CONST {
			continue
		}
		var e Enum
		for _, s := range decl.Specs {
			spec := s.(*ast.ValueSpec)
			if id, ok := spec.Type.(*ast.Ident); ok {
				e.Type = id.Name
			}
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				return nil, fmt.Errorf("read the enum %s: %w", e.Type, err)
			}
			e.Values = append(e.Values, Value{text, strings.TrimSpace(cmp.Or(spec.Comment.Text(), spec.Doc.Text()))})
		}
		all = append(all, e)
	}
	return all, nil
}
