package bundle

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"
)

// The compiler reads settings itself: package.json, tsconfig.json and
// jsconfig.json of every folder it looks into and of those above it. It goes
// down into them by calling itself, so they are looked at first.
const (
	maxSettings = 1 << 20 // bytes
	maxOpen     = 50_000  // brackets, wherever they are: the nesting cannot be deeper than that
	maxFolders  = 20_000  // of one package
	maxString   = 1000    // bytes of a path in settings
)

// A vetter checks settings, each once.
type vetter struct {
	mu    sync.Mutex
	files map[string]error // by path of settings
	dirs  map[string]error // by folder: of its own package.json and those above
	homes map[string]error // by folder of a package: of all in it
	wrong []error          // about settings of TypeScript
	leads []string         // where settings of TypeScript may lead imports
}

// checkSettings says why a file cannot be used as settings. A missing file can.
func (v *vetter) checkSettings(path string) (text string, err error) {
	if err, known := v.files[path]; known {
		return "", err
	}
	if st, statErr := os.Stat(path); statErr == nil && st.Mode().IsRegular() {
		src := readSource(path, maxSettings)
		text, err = src.raw, src.err
		if err == nil && strings.Count(text, "[")+strings.Count(text, "{") > maxOpen {
			err = errors.New("nested too deeply")
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	v.files[path] = err
	return text, err
}

// checkScript is fit for settings that the compiler reads as it does programs.
func (v *vetter) checkScript(path string) error {
	if st, err := os.Stat(path); err != nil || st.IsDir() {
		return nil
	}
	src := readSource(path, 16<<20)
	if src.err == nil && !src.tooMuch() {
		return nil
	}
	return fmt.Errorf("%s: %w", path, src.err)
}

// checkFolder says why the compiler must not search a folder. TypeScript settings are not a reason:
// the compiler can do without them.
func (v *vetter) checkFolder(dir string) error {
	if err, known := v.dirs[dir]; known {
		return err
	}
	v.dirs[dir] = nil
	_, err := v.checkSettings(filepath.Join(dir, "package.json"))
	for _, name := range []string{".pnp.data.json", ".pnp.cjs", ".pnp.js"} {
		err = cmp.Or(err, v.checkScript(filepath.Join(dir, name)))
	}
	if up := filepath.Dir(dir); err == nil && up != dir {
		err = v.checkFolder(up)
	}
	v.dirs[dir] = err
	if !strings.Contains(filepath.ToSlash(dir)+"/", "/node_modules/") {
		v.typescript(filepath.Join(dir, "tsconfig.json"))
		v.typescript(filepath.Join(dir, "jsconfig.json"))
	}
	if real, e := filepath.EvalSymlinks(dir); err == nil && e == nil && real != dir {
		err = v.checkFolder(real)
	}
	return err
}

// typescript looks at settings of TypeScript and at what they may extend or
// lead imports to: whatever is written in them is taken for a path.
func (v *vetter) typescript(path string) {
	if _, known := v.files[path]; known {
		return
	}
	text, err := v.checkSettings(path)
	if err == nil && strings.Contains(text, `\u`) {
		err = fmt.Errorf("%s: settings with escaped letters are not read", path)
	}
	if err != nil {
		v.wrong = append(v.wrong, err)
		return
	}
	dirs := []string{filepath.Dir(path)}
	for _, base := range valuesOf(text, "baseUrl") {
		dirs = append(dirs, joinDir(dirs[0], base))
		v.leads = append(v.leads, joinDir(dirs[0], base))
	}
	bases := valuesOf(text, "extends")
	for _, s := range strings.Split(text, `"`) {
		if s = strings.TrimSpace(s); s == "" || len(s) > maxString || strings.ContainsAny(s, "\n\x00{},") {
			continue
		}
		for _, dir := range dirs {
			if strings.ContainsAny(s, "*/.") {
				v.leads = append(v.leads, joinDir(dir, s))
			}
		}
		v.extended(dirs[0], s, slices.Contains(bases, s))
	}
}

// joinDir is a path as settings in a folder mean it.
func joinDir(dir, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// valuesOf gives the texts behind each occurrence of a key, up to the next key.
func valuesOf(text, key string) (values []string) {
	parts := strings.Split(text, `"`+key+`"`)
	for _, part := range parts[1:] {
		words := strings.Split(part, `"`)
		for i := 1; i < len(words); i++ {
			if strings.HasPrefix(strings.TrimLeft(words[i], " \t\r\n"), ":") {
				break
			}
			values = append(values, words[i])
		}
	}
	return values
}

// extended looks at what settings of TypeScript in a folder may extend; surely
// says that they do, rather than having the name for another reason.
func (v *vetter) extended(dir, base string, surely bool) {
	if isRelative(base) {
		target := joinDir(dir, base)
		v.typescript(target)
		v.typescript(target + ".json")
		v.typescript(filepath.Join(target, "tsconfig.json"))
		return
	}
	if !packageName(packageOf(base)) {
		return
	}
	for ; ; dir = filepath.Dir(dir) {
		home := filepath.Join(dir, "node_modules", filepath.FromSlash(packageOf(base)))
		if st, err := os.Stat(home); err == nil && st.IsDir() {
			v.extendedPackage(home, filepath.Join(dir, "node_modules", filepath.FromSlash(base)), surely)
		}
		if dir == filepath.Dir(dir) {
			return
		}
	}
}

// extendedPackage is extended for a package that is there. Any path in its
// package.json may be that of its settings.
func (v *vetter) extendedPackage(home, target string, surely bool) {
	if err := v.checkPackage(home); err != nil {
		v.wrong = append(v.wrong, err)
		return
	}
	for _, path := range []string{target, target + ".json", filepath.Join(target, "tsconfig.json")} {
		v.typescript(path)
	}
	if src := readSource(filepath.Join(home, "package.json"), maxSettings); surely && src.err == nil {
		if strings.Contains(src.raw, `\u`) {
			v.wrong = append(v.wrong, fmt.Errorf("%s: settings with escaped letters are not read", home))
		}
		for _, s := range strings.Split(src.raw, `"`) {
			if len(s) < maxString && strings.ContainsAny(s, "./") && !strings.ContainsAny(s, "\n\x00{},") {
				v.typescript(joinDir(home, s))
			}
		}
	}
}

// checkPackage says why the settings of a package, or of a folder in it, are no good.
// Which of its folders the compiler will look into is the package's own
// decision, so it is all of them.
func (v *vetter) checkPackage(home string) error {
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	if err, known := v.homes[home]; known {
		return err
	}
	v.homes[home] = nil
	if err := v.checkFolder(home); err != nil {
		v.homes[home] = err
		return err
	}
	folders := 0
	v.homes[home] = filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // the compiler does not read it either
		case d.IsDir() && d.Name() == "node_modules" && path != home:
			return fs.SkipDir
		case d.IsDir():
			if folders++; folders > maxFolders {
				return fmt.Errorf("%s has more than %d folders", home, maxFolders)
			}
		case d.Name() == "package.json":
			_, err := v.checkSettings(path)
			return err
		case d.Type()&fs.ModeSymlink != 0:
			return v.checkFolder(path)
		}
		return nil
	})
	return v.homes[home]
}

// imported says why the compiler must not search some folder for an import of a file.
func (v *vetter) imported(dir, spec string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	spec, _, _ = strings.Cut(spec, "?")
	target := filepath.FromSlash(spec)
	if filepath.IsAbs(target) {
		return v.checkFolder(target)
	}
	if isRelative(spec) {
		return v.checkFolder(filepath.Join(dir, target))
	}
	if err := v.led(spec); err != nil {
		return err
	}
	name := packageOf(spec)
	for ; ; dir = filepath.Dir(dir) {
		home := filepath.Join(dir, "node_modules", filepath.FromSlash(name))
		if st, err := os.Stat(home); err == nil && st.IsDir() && filepath.Base(dir) != "node_modules" {
			return v.checkPackage(home)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// led is imported for the places settings of TypeScript may lead an import to.
func (v *vetter) led(spec string) error {
	rests := []string{spec}
	for i := range len(spec) {
		if spec[i] == '/' || spec[i] == '@' || spec[i] == '~' || spec[i] == '#' || spec[i] == '$' {
			rests = append(rests, spec[i+1:])
		}
	}
	for _, place := range v.leads {
		for _, rest := range rests {
			path := strings.ReplaceAll(place, "*", rest)
			if path == place {
				path = filepath.Join(place, rest)
			}
			if err := v.checkFolder(filepath.Clean(path)); err != nil {
				return err
			}
		}
	}
	return nil
}

// wary returns what the compiler gets instead of resolving an import, if it would read unsafe
// settings on the way.
func (s *buildSession) wary(a api.OnResolveArgs) (api.OnResolveResult, bool) {
	err := s.vetter.imported(a.ResolveDir, a.Path)
	s.vetter.mu.Lock()
	defer s.vetter.mu.Unlock()
	if err == nil && len(s.vetter.wrong) > 0 && !s.lonely {
		err = errForgo
	}
	if err == nil {
		return api.OnResolveResult{}, false
	}
	return api.OnResolveResult{Errors: []api.Message{{Text: err.Error()}}}, true
}

// errForgo requests another round without TypeScript settings.
var errForgo = errors.New("settings of TypeScript can not be read")

// vet checks the settings of the folder and of its files.
func (s *buildSession) vet() error {
	s.vetter.mu.Lock()
	defer s.vetter.mu.Unlock()
	for _, f := range append([]string{"package.json"}, s.o.Files...) {
		if err := s.vetter.checkFolder(filepath.Dir(filepath.Join(s.o.Root, filepath.FromSlash(f)))); err != nil {
			return err
		}
		if _, real := resolvePath(s.o.Root, f); real != "" {
			if err := s.vetter.checkFolder(filepath.Dir(real)); err != nil {
				return err
			}
		}
	}
	for _, dir := range s.o.Also {
		if st, err := os.Stat(dir); err == nil && !st.IsDir() {
			dir = filepath.Dir(dir)
		}
		if err := s.vetter.checkFolder(dir); err != nil {
			return err
		}
	}
	s.forgo()
	return nil
}

// forgo has the compiler do without settings of TypeScript, if some are not
// fit to be read.
func (s *buildSession) forgo() bool {
	if len(s.vetter.wrong) == 0 || s.lonely {
		return false
	}
	s.lonely = true
	file, text, _ := strings.Cut(s.vetter.wrong[0].Error(), ": ")
	s.problems = append(s.problems, Problem{File: file, Text: text})
	return true
}
