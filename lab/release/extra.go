package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// completions are the shells that the command completes its words in, with the
// name each looks for.
func completions() map[string]string {
	return map[string]string{"bash": "helve.bash", "zsh": "_helve", "fish": "helve.fish", "powershell": "helve.ps1"}
}

// gather collects what comes with every program.
func (w *works) gather(ctx context.Context, work string) error {
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		data, err := os.ReadFile(filepath.Join(w.root, name))
		if err != nil {
			return err
		}
		w.extra = append(w.extra, member{name, 0o644, data})
	}
	host := filepath.Join(work, "host", "helve")
	if err := w.compile(ctx, target{runtime.GOOS, runtime.GOARCH}, host); err != nil {
		return err
	}
	for shell, name := range completions() {
		text, err := w.command(ctx, nil, host, "completion", shell)
		if err != nil {
			return err
		}
		w.extra = append(w.extra, member{"completions/" + name, 0o644, text})
	}
	pages := filepath.Join(work, "man")
	_, err := w.command(ctx, nil, "go", "run", "-C", "lab", "./docs-gen", "man", "--date", w.at.UTC().Format("2006-01-02"),
		"--release", "helve "+strings.TrimPrefix(w.version, "v"), pages)
	if err != nil {
		return err
	}
	list, err := filepath.Glob(filepath.Join(pages, "*.[1-8]"))
	if err != nil || len(list) == 0 {
		return errors.Join(err, errors.New("there are no manual pages"))
	}
	for _, page := range list {
		data, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		w.extra = append(w.extra, member{"man/" + filepath.Base(page), 0o644, data})
	}
	slices.SortFunc(w.extra, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return nil
}

// notices are the licences of all that a program holds and that is not ours,
// which have to go with it.
func (w *works) notices(ctx context.Context, program string) ([]byte, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	args := []string{"list", "-m", "-f", "{{.Path}}\t{{.Version}}\t{{.Dir}}"}
	for _, m := range info.Deps {
		args = append(args, m.Path)
	}
	out, err := w.command(ctx, nil, "go", args...)
	if err != nil {
		return nil, err
	}
	root, err := w.command(ctx, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	lines := append(strings.Split(strings.TrimSpace(string(out)), "\n"), "Go's standard library\t"+info.GoVersion+"\t"+strings.TrimSpace(string(root)))
	var b strings.Builder
	b.WriteString("helve holds work of others, under these licences.\n")
	for _, line := range lines {
		cells := strings.Split(line, "\t")
		if len(cells) != 3 || cells[2] == "" {
			return nil, fmt.Errorf("the sources of %s are not there", strconv.Quote(line))
		}
		texts, err := licences(cells[2])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", cells[0], err)
		}
		fmt.Fprintf(&b, "\n%s\n%s %s\n", strings.Repeat("-", 78), cells[0], cells[1])
		for _, text := range texts {
			fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(text))
		}
	}
	return []byte(b.String()), nil
}

// licences returns the texts in a folder that say what may be done with it.
func licences(dir string) (texts []string, err error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		name := strings.ToUpper(e.Name())
		legal := slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE"}, func(head string) bool { return strings.HasPrefix(name, head) })
		if !e.Type().IsRegular() || !legal {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, strings.ReplaceAll(string(data), "\r\n", "\n"))
	}
	if len(texts) == 0 {
		return nil, errors.New("there is no licence in its folder")
	}
	return texts, nil
}
