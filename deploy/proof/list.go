package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"troupe/deploy/shard"
)

// list prints the tests that each shard has, with the variants of end-to-end tests, and fails if
// together they are others than go test -list and Playwright's --list name.
func list(out io.Writer, folders []folder) error {
	exist, err := listTests(folders)
	if err != nil {
		return err
	}
	variants, err := readVariants(endToEnd)
	if err != nil {
		return err
	}
	const every = shard.Variable + "=" + shard.All
	matrix, err := listSpecs(every, "TROUPE_SPEC_MATRIX=1") // what is left of it in the end is in no shard
	if err != nil {
		return err
	}
	union := map[string]bool{}
	for s := range shard.Shard(shard.Count) {
		p, err := newPlan(folders, nil, false, s)
		if err != nil {
			return err
		}
		specs, err := listSpecs(shard.Variable + "=" + s.String())
		if err != nil {
			return err
		}
		names := p.tests(exist, variants)
		fmt.Fprintf(out, "shard %v: %d tests, %d specs\n", s, len(names), len(specs))
		for _, name := range names {
			fmt.Fprintf(out, "    %s\n", name)
			union[name] = true
		}
		for _, name := range specs {
			fmt.Fprintf(out, "    spec %s\n", name)
		}
		matrix = slices.DeleteFunc(matrix, func(name string) bool { return slices.Contains(specs, name) })
	}
	whole, err := listSpecs(every)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "in make proof alone: %d specs\n", len(matrix))
	for _, name := range matrix {
		fmt.Fprintf(out, "    spec %s\n", name)
	}
	var missing []string
	for _, t := range exist {
		names := variants[t.name]
		if t.folder != endToEnd || len(names) == 0 {
			names = []string{""}
		}
		for _, v := range names {
			if name := t.in(v); !union[name] && !union[name+" (race)"] {
				missing = append(missing, name)
			}
		}
	}
	for _, name := range whole {
		if slices.Contains(matrix, name) {
			missing = append(missing, "spec "+name)
		}
	}
	for _, name := range missing {
		fmt.Fprintf(out, "in no shard: %s\n", name)
	}
	fmt.Fprintf(out, "the %d shards together: all but %d of %d tests, each in its variants, and of %d specs; make proof has %d specs more\n",
		shard.Count, len(missing), len(exist), len(whole), len(matrix))
	if len(missing) > 0 {
		return errors.New("the shards leave out tests")
	}
	return nil
}

// A test is a test function, a fuzz target or an example of a package.
type test struct{ folder, name string }

// in returns the name of the test on a variant.
func (t test) in(variant string) string {
	if variant == "" {
		return t.folder + " " + t.name
	}
	return t.folder + " " + t.name + "/" + variant
}

// tests returns the names of the tests that the plan runs.
func (p plan) tests(exist []test, variants map[string][]string) (names []string) {
	for _, r := range p.runs {
		for _, t := range exist {
			if !r.has(t.folder, t.name) {
				continue
			}
			mark := ""
			if r.race {
				mark = " (race)"
			}
			all := variants[t.name]
			if t.folder != endToEnd || len(all) == 0 {
				names = append(names, t.in("")+mark)
				continue
			}
			for _, n := range p.shard.Variants(t.name, len(all)) {
				names = append(names, t.in(all[n])+mark)
			}
		}
	}
	slices.Sort(names)
	return names
}

// listTests asks go test for the tests of every package.
func listTests(folders []folder) ([]test, error) {
	args := []string{"test", "-json", "-vet=off", "-ldflags=-w", "-list=."}
	for _, f := range folders {
		if f.hasTests {
			args = append(args, "./"+f.name)
		}
	}
	cmd := exec.Command("go", args...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list tests: %w", err)
	}
	var all []test
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var e struct{ Action, Package, Output string }
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("list tests: %w", err)
		}
		name := strings.TrimSpace(e.Output)
		if e.Action == "output" && !strings.ContainsAny(name, " \t") && isTestName(name) {
			all = append(all, test{strings.TrimPrefix(e.Package, module), name})
		}
	}
}

func isTestName(name string) bool {
	return slices.ContainsFunc([]string{"Test", "Fuzz", "Example"}, func(p string) bool { return strings.HasPrefix(name, p) })
}

// readVariants reads from the sources on which variants each end-to-end test runs: what it gives to
// runIn as a list, or as the name of one.
func readVariants(from string) (map[string][]string, error) {
	files, err := filepath.Glob(filepath.Join(from, "*_test.go"))
	if err != nil {
		return nil, fmt.Errorf("read the variants of tests: %w", err)
	}
	lists, of := map[string][]string{}, map[string]ast.Expr{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("read the variants of tests: %w", err)
		}
		function := ""
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				function = n.Name.Name
			case *ast.ValueSpec:
				if len(n.Names) == 1 && len(n.Values) == 1 {
					lists[n.Names[0].Name] = variantsIn(n.Values[0])
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "runIn" && len(n.Args) == 3 {
					of[function] = n.Args[1]
				}
			}
			return true
		})
	}
	variants := map[string][]string{}
	for name, arg := range of {
		variants[name] = variantsIn(arg)
		if list, ok := arg.(*ast.Ident); ok {
			variants[name] = lists[list.Name]
		}
		if len(variants[name]) == 0 {
			return nil, fmt.Errorf("read the variants of tests: %s gives runIn neither a list nor the name of one", name)
		}
	}
	return variants, nil
}

// variantsIn returns the names in []variant{ownBroker, postgres}.
func variantsIn(e ast.Expr) (names []string) {
	literal, ok := e.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	if of, ok := literal.Type.(*ast.ArrayType); !ok || fmt.Sprint(of.Elt) != "variant" {
		return nil
	}
	for _, each := range literal.Elts {
		names = append(names, fmt.Sprint(each))
	}
	return names
}

// listSpecs asks Playwright for the specs, with these variables.
func listSpecs(env ...string) ([]string, error) {
	cmd := exec.Command(filepath.Join(".", "node_modules", ".bin", "playwright"), "test", "--list", "--reporter=list")
	cmd.Dir, cmd.Stderr = "fleetd/console/web", os.Stderr
	cmd.Env = append(os.Environ(), env...)
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list specs: %w", err)
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		if name := strings.TrimSpace(line); strings.Contains(name, " › ") {
			names = append(names, name)
		}
	}
	return names, nil
}
