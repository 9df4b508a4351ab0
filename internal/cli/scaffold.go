package cli

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Scaffolding writes example tools that work, each with a test, and reads such tests.

//go:embed templates
var templates embed.FS

const (
	nameMark    = "__NAME__" // in a template, the name of the tool
	maxName     = 64
	casesEnding = ".test.json"
	letters     = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
)

// scaffoldLanguages are the languages that there are examples in.
func scaffoldLanguages() []string { return []string{"ts", "py", "sh", "go"} }

// caseFileName returns the name of the file with the test of a tool. It is beside the tool.
func caseFileName(tool string) string { return tool + casesEnding }

// An exampleFile is a file of an example.
type exampleFile struct {
	template, name string // below templates, and below the config folder
	mode           fs.FileMode
}

// parts are the files of an example; tools is the folder that tools are in. On
// Windows a script is no program, and needs one that starts it.
func parts(tools, name, lang, goos string) ([]exampleFile, error) {
	in := func(ending string) string { return filepath.Join(tools, name+ending) }
	cases := exampleFile{"cases.json", in(casesEnding), 0o644}
	switch {
	case lang == "ts":
		return []exampleFile{{"ts/tool.ts", in(".ts"), 0o644}, cases}, nil
	case lang == "py" && goos == "windows":
		return []exampleFile{{"py/tool.py", in(".py"), 0o755}, {"py/tool.cmd", in(".cmd"), 0o755}, cases}, nil
	case lang == "py":
		return []exampleFile{{"py/tool.py", in(".py"), 0o755}, cases}, nil
	case lang == "sh" && goos == "windows":
		return nil, errors.New("shell scripts are no programs on Windows: take ts, py or go")
	case lang == "sh":
		return []exampleFile{{"sh/tool.sh", in(".sh"), 0o755}, cases}, nil
	case lang == "go":
		source := filepath.Join("tool-src", name)
		return []exampleFile{{"go/main.go.txt", filepath.Join(source, "main.go"), 0o644}, {"go/go.mod.txt", filepath.Join(source, "go.mod"), 0o644}, cases}, nil
	}
	return nil, fmt.Errorf("there is no example in %q: take one of %s", lang, strings.Join(scaffoldLanguages(), ", "))
}

// writeScaffold writes an example tool and its test into a config folder, and returns the files. It
// overwrites nothing: if one of them, or another tool of the name, exists, it writes nothing. An
// error is a sentence for people.
func writeScaffold(dir, name, lang string) ([]string, error) {
	switch {
	case name == "":
		return nil, errors.New("the tool has no name: give one of letters, digits, _ and -")
	case len(name) > maxName:
		return nil, fmt.Errorf("the name has %d characters: give one of %d at the most", len(name), maxName)
	case strings.Trim(name, letters) != "":
		return nil, fmt.Errorf("the name %q has other characters than letters, digits, _ and -: give one without them", name)
	case name[0] == '-':
		return nil, fmt.Errorf("the name %q begins with -, as options do: give one that begins with a letter", name)
	}
	all, err := parts(toolsOf(dir), name, lang, runtime.GOOS)
	if err != nil {
		return nil, err
	}
	if other := nameTaken(dir, name); other != "" {
		return nil, fmt.Errorf("there is a tool %s already: %s. Take another name, or remove that file first", name, other)
	}
	var w writer
	for _, p := range all {
		text, err := templates.ReadFile("templates/" + p.template)
		if err == nil {
			err = w.write(filepath.Join(dir, p.name), strings.ReplaceAll(string(text), nameMark, name), p.mode)
		}
		if err != nil {
			return nil, errors.Join(err, w.removeWritten())
		}
	}
	return w.files, nil
}

// scaffoldNext are the commands to give next, in order, when an example was written
// into a config folder: they build it where that is needed, and test it.
func scaffoldNext(dir, name, lang string) []string {
	test := "helve tools test " + name
	if lang != "go" {
		return []string{test}
	}
	program := filepath.Join("..", "..", toolsOf(dir), name)
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	return []string{fmt.Sprintf("go build -C %s -o %s .", quoteForShell(filepath.Join(dir, "tool-src", name)), program), test}
}

// quoteForShell is a path as a shell reads it.
func quoteForShell(path string) string {
	if strings.ContainsAny(path, " \t'\"\\$`&;|<>()*?[]#~!{}") && runtime.GOOS != "windows" {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// toolsOf returns the folder of the tools below a config folder: the existing one, or tool.
func toolsOf(dir string) string {
	for _, sub := range []string{"tool", "tools"} {
		if info, err := os.Stat(filepath.Join(dir, sub)); err == nil && info.IsDir() {
			return sub
		}
	}
	return "tool"
}

// nameTaken finds a file that defines or describes a tool of the name.
func nameTaken(dir, name string) (about string) {
	for _, sub := range []string{"tool", "tools"} {
		entries, _ := os.ReadDir(filepath.Join(dir, sub))
		for _, e := range entries {
			first, ending, _ := strings.Cut(e.Name(), ".")
			if !strings.EqualFold(first, name) {
				continue
			}
			about = filepath.Join(dir, sub, e.Name())
			if !strings.HasSuffix(ending, "json") {
				return about
			}
		}
	}
	return about
}

// A writer writes files and can take all of them back.
type writer struct {
	files, folders []string
}

func (w *writer) write(name, text string, mode fs.FileMode) error {
	if err := w.mkdir(filepath.Dir(name)); err != nil {
		return fmt.Errorf("making the folder of %s: %w", name, err)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: take another name, or remove it first", name)
	}
	if err != nil {
		return fmt.Errorf("writing the example: %w", err)
	}
	w.files = append(w.files, name)
	_, err = f.WriteString(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("writing the example: %w", err)
	}
	return nil
}

// mkdir makes a folder and those above it.
func (w *writer) mkdir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if up := filepath.Dir(dir); up != dir {
		if err := w.mkdir(up); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	w.folders = append(w.folders, dir)
	return nil
}

// removeWritten removes what was written, newest first. Files that others have put into a folder
// meanwhile stay.
func (w *writer) removeWritten() error {
	var errs []error
	for i := len(w.files) - 1; i >= 0; i-- {
		errs = append(errs, os.Remove(w.files[i]))
	}
	for i := len(w.folders) - 1; i >= 0; i-- {
		_ = os.Remove(w.folders[i])
	}
	return errors.Join(errs...)
}
