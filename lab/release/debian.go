package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// debVersion is a version as Debian orders it: what comes before a release is
// older than it.
func debVersion(version string) string {
	main, pre, found := strings.Cut(strings.TrimPrefix(version, "v"), "-")
	if !found {
		return main
	}
	return main + "~" + regexp.MustCompile(`[^A-Za-z0-9.+~]`).ReplaceAllString(pre, ".")
}

// debian makes the Debian package of a target from the files of its archive.
func (w *works) debian(ctx context.Context, t target, from []member) error {
	stage := filepath.Join(w.out, "work", "deb-"+t.arch)
	files, err := w.debianFiles(from)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := w.put(stage, f); err != nil {
			return err
		}
	}
	env := []string{
		"STAGE=" + stage, "DEB_ARCH=" + t.arch, "DEB_VERSION=" + debVersion(w.version),
		fmt.Sprintf("SOURCE_DATE_EPOCH=%d", w.at.Unix()),
	}
	to := filepath.Join(w.out, fmt.Sprintf("helve_%s-1_%s.deb", debVersion(w.version), t.arch))
	_, err = w.command(ctx, env, filepath.Join(w.tools, "nfpm"), "package", "--packager", "deb",
		"--config", filepath.Join(w.root, "release", "nfpm.yaml"), "--target", to)
	return err
}

// put writes a file of the package, and gives it and its folders the time of
// the commit.
func (w *works) put(stage string, f member) error {
	name := filepath.Join(stage, filepath.FromSlash(f.name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(name, f.data, f.mode); err != nil {
		return err
	}
	if err := os.Chmod(name, f.mode); err != nil { // whatever the umask is
		return err
	}
	for ; name != stage; name = filepath.Dir(name) {
		if err := os.Chtimes(name, w.at, w.at); err != nil {
			return err
		}
	}
	return nil
}

// debianFiles are the files of the package, where Debian wants them.
func (w *works) debianFiles(from []member) ([]member, error) {
	change := fmt.Sprintf("helve (%s-1) unstable; urgency=medium\n\n  * Release %s; see changelog.gz.\n\n -- %s  %s\n",
		debVersion(w.version), strings.TrimPrefix(w.version, "v"), maintainer, w.at.UTC().Format(time.RFC1123Z))
	files := []member{{docFolder + "changelog.Debian.gz", 0o644, squeeze([]byte(change))}}
	for name, to := range map[string]string{"copyright": docFolder + "copyright", "lintian-overrides": "usr/share/lintian/overrides/helve"} {
		data, err := os.ReadFile(filepath.Join(w.root, "release", name))
		if err != nil {
			return nil, err
		}
		files = append(files, member{to, 0o644, data})
	}
	for _, f := range from {
		to, ok := debianName(f.name)
		if !ok {
			continue
		}
		if strings.HasSuffix(to, ".gz") {
			f.data = squeeze(f.data)
		}
		files = append(files, member{to, f.mode, f.data})
	}
	pages, err := w.pages(docFolder)
	return append(files, pages...), err
}

// docFolder is where Debian keeps what is to be read.
const docFolder = "usr/share/doc/helve/"

// debianName is where a file of the archive goes; ok is false for one that has
// no place there.
func debianName(name string) (to string, ok bool) {
	if page, found := strings.CutPrefix(name, "man/"); found {
		return "usr/share/man/man" + page[len(page)-1:] + "/" + page + ".gz", true
	}
	to, ok = map[string]string{
		"helve":                    "usr/bin/helve",
		"completions/helve.bash":   "usr/share/bash-completion/completions/helve",
		"completions/_helve":       "usr/share/zsh/vendor-completions/_helve",
		"completions/helve.fish":   "usr/share/fish/vendor_completions.d/helve.fish",
		"README.md":                docFolder + "README.md",
		"CHANGELOG.md":             docFolder + "changelog.gz",
		"THIRD-PARTY-LICENCES.txt": docFolder + "third-party-licences.txt.gz",
	}[name]
	return to, ok
}

// maintainer is who the package's papers name.
const maintainer = "The helve authors <helve@localhost.localdomain>"

// pages are the documents that the README leads to.
func (w *works) pages(to string) (files []member, err error) {
	list, err := filepath.Glob(filepath.Join(w.root, "docs", "*"))
	if err != nil || len(list) == 0 {
		return nil, errors.Join(err, errors.New("there are no documents"))
	}
	for _, path := range list {
		switch filepath.Ext(path) {
		case ".md", ".svg", ".png", ".json":
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			files = append(files, member{to + "docs/" + filepath.Base(path), 0o644, data})
		}
	}
	return files, nil
}

// squeeze is gzip without name and time, as Debian wants it.
func squeeze(data []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is one of the package's own
	_, _ = z.Write(data)                                  // memory takes it all
	_ = z.Close()
	return b.Bytes()
}
