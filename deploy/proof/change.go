package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
)

// module is the prefix of import paths of this module.
const module = "troupe/"

// readFolders lists the packages of this module, in the order of their names.
func readFolders() ([]folder, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports,TestGoFiles,XTestGoFiles", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("list packages: %w", err)
	}
	var folders []folder
	for d := json.NewDecoder(out); ; {
		var p struct {
			ImportPath                         string
			Imports, TestImports, XTestImports []string
			TestGoFiles, XTestGoFiles          []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("list packages: %w", err)
		}
		f := folder{name: strings.TrimPrefix(p.ImportPath, module), hasTests: len(p.TestGoFiles)+len(p.XTestGoFiles) > 0}
		for _, from := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if name, ok := strings.CutPrefix(from, module); ok && name != f.name && !slices.Contains(f.imports, name) {
				f.imports = append(f.imports, name)
			}
		}
		folders = append(folders, f)
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("list packages: %w", err)
	}
	return folders, nil
}

// git runs git in this tree.
func git(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// changedSince returns the folders with a file that differs from the commit, or that git does not
// know. everything is true if no such comparison can be made, or if the libraries changed.
func changedSince(base string, folders []folder) (changed []string, everything bool) {
	differ, err := git("diff", "--name-only", base)
	if err != nil {
		return nil, true
	}
	unknown, err := git("ls-files", "--others", "--exclude-standard")
	if err != nil {
		return nil, true
	}
	files := strings.Fields(differ + "\n" + unknown)
	return foldersOf(files, folders), slices.Contains(files, "go.mod")
}

// foldersOf returns the packages that files belong to: the nearest above each.
func foldersOf(files []string, folders []folder) []string {
	var names []string
	for _, file := range files {
		for at := path.Dir(file); at != "."; at = path.Dir(at) {
			if slices.ContainsFunc(folders, func(f folder) bool { return f.name == at }) {
				names = append(names, at)
				break
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// changedNow returns the folders that somebody is at work on: those that differ from the commit, or
// in a clean tree those of the last commit.
func changedNow(folders []folder) []string {
	for _, base := range []string{"HEAD", "HEAD~1"} {
		if changed, _ := changedSince(base, folders); len(changed) > 0 {
			return changed
		}
	}
	return nil
}

// reachedBy returns the folders that changed, and those that import one of them.
func reachedBy(changed []string, folders []folder) []string {
	var names []string
	for _, f := range folders {
		if f.hasTests && whyReached(f, changed) != "" {
			names = append(names, f.name)
		}
	}
	return names
}

// hashOfTree returns a number from what is committed, so that a change always has the same one and
// changes have different ones. Without git it is 1.
func hashOfTree() uint64 {
	tree, err := git("rev-parse", "HEAD^{tree}")
	if err != nil || len(tree) < 8 {
		return 1
	}
	n, err := strconv.ParseUint(tree[:8], 16, 64)
	if err != nil {
		return 1
	}
	return n
}
