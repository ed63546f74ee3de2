package schema

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

func TestUnitKindsListsEveryConstant(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "caps.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	declared := 0
	for spec := range ast.Preorder(f) {
		v, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		if kind, ok := v.Type.(*ast.Ident); !ok || kind.Name != "UnitKind" {
			continue
		}
		declared++
		text, _ := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
		if !slices.Contains(UnitKinds, UnitKind(text)) {
			t.Errorf("UnitKinds lacks %s", v.Names[0].Name)
		}
	}
	if declared == 0 || declared != len(UnitKinds) {
		t.Errorf("caps.go declares %d kinds, UnitKinds has %d", declared, len(UnitKinds))
	}
}
