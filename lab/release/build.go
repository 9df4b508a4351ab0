package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// works is a release in the making.
type works struct {
	root, out, tools string
	log              io.Writer

	version string    // as Go has it: v1.2.3, or made from the commit
	at      time.Time // of the commit: the time of every file
	extra   []member  // what comes with every program
}

// A member is a file of an archive or a package.
type member struct {
	name string // with slashes, below the archive's folder
	mode os.FileMode
	data []byte
}

// build makes everything.
func (w *works) build(ctx context.Context, list []target) error {
	if err := os.RemoveAll(w.out); err != nil {
		return err
	}
	work := filepath.Join(w.out, "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	for _, t := range list {
		w.say("%s", t)
		if err := w.compile(ctx, t, w.programOf(t)); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	if err := w.stampFrom(w.programOf(list[0])); err != nil {
		return err
	}
	w.say("version %s", w.version)
	if err := w.gather(ctx, work); err != nil {
		return err
	}
	for _, t := range list {
		if err := w.pack(ctx, t); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	return w.sums()
}

func (w *works) say(format string, args ...any) { fmt.Fprintf(w.log, "release: "+format+"\n", args...) }

// programOf is where the program of a target is built.
func (w *works) programOf(t target) string {
	return filepath.Join(w.out, "work", t.os+"-"+t.arch, t.program())
}

// compile builds the command. Nothing of this machine gets into it: no path, no
// C library, no time.
func (w *works) compile(ctx context.Context, t target, to string) error {
	env := []string{"CGO_ENABLED=0", "GOOS=" + t.os, "GOARCH=" + t.arch, "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT="}
	_, err := w.command(ctx, env, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", to, "./cmd/helve")
	return err
}

// command runs a program in the root, and returns what it prints.
func (w *works) command(ctx context.Context, env []string, name string, args ...string) ([]byte, error) {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.Stderr = w.root, append(os.Environ(), env...), &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), args[0], err, strings.TrimSpace(said.String()+string(out)))
	}
	return out, nil
}

// stampFrom reads version and time from a program.
func (w *works) stampFrom(path string) error {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return err
	}
	w.version = info.Main.Version
	for _, s := range info.Settings {
		if s.Key != "vcs.time" {
			continue
		}
		if w.at, err = time.Parse(time.RFC3339, s.Value); err != nil {
			return err
		}
	}
	if w.at.IsZero() || !strings.HasPrefix(w.version, "v") {
		return errors.New("the program does not say which commit it is from: releases are made from a git checkout")
	}
	return nil
}

// pack makes all that is for one target.
func (w *works) pack(ctx context.Context, t target) error {
	program, err := os.ReadFile(w.programOf(t))
	if err != nil {
		return err
	}
	notices, err := w.notices(ctx, w.programOf(t))
	if err != nil {
		return err
	}
	name := t.base(w.version)
	files := append([]member{{t.program(), 0o755, program}, {"THIRD-PARTY-LICENCES.txt", 0o644, notices}}, w.extra...)
	f, err := os.Create(filepath.Join(w.out, name+t.packed()))
	if err != nil {
		return err
	}
	write := writeTar
	if t.os == "windows" {
		write = writeZip
	}
	if err := errors.Join(write(f, name, files, w.at), f.Close()); err != nil {
		return err
	}
	if w.tools == "" {
		w.say("%s: left out: the list of modules and the Debian package: no --tools", t)
		return nil
	}
	if err := w.list(ctx, t); err != nil {
		return err
	}
	if t.os != "linux" {
		return nil
	}
	return w.debian(ctx, t, files)
}

// list writes which modules a program is made of, as CycloneDX.
func (w *works) list(ctx context.Context, t target) error {
	to := filepath.Join(w.out, t.base(w.version)+".cdx.json")
	_, err := w.command(ctx, nil, filepath.Join(w.tools, "cyclonedx-gomod"), "bin", "-json", "-std", "-noserial", "-notimestamp",
		"-version", w.version, "-output", to, w.programOf(t))
	return err
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
	for shell, name := range map[string]string{"bash": "helve.bash", "zsh": "_helve", "fish": "helve.fish", "powershell": "helve.ps1"} {
		text, err := w.command(ctx, nil, host, "completion", shell)
		if err != nil {
			return err
		}
		w.extra = append(w.extra, member{"completions/" + name, 0o644, text})
	}
	pages := filepath.Join(work, "man")
	generator := filepath.Join(work, "docs-gen")
	if _, err := w.command(ctx, nil, "go", "build", "-C", "lab", "-o", generator, "./docs-gen"); err != nil {
		return err
	}
	_, err := w.command(ctx, nil, generator, "man", "--date", w.at.UTC().Format("2006-01-02"), "--release", "helve "+strings.TrimPrefix(w.version, "v"), pages)
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

// writeTar writes files below a folder, all of one time and nobody's, so that
// the same files are the same bytes.
func writeTar(to io.Writer, folder string, files []member, at time.Time) error {
	z, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: folder + "/" + f.name, Size: int64(len(f.data)),
			Mode: int64(f.mode.Perm()), ModTime: at.UTC(), Format: tar.FormatUSTAR,
		}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := w.Write(f.data); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), z.Close())
}

// writeZip is writeTar for systems that know no tar.
func writeZip(to io.Writer, folder string, files []member, at time.Time) error {
	w := zip.NewWriter(to)
	for _, f := range files {
		h := &zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: at.UTC()}
		h.SetMode(f.mode)
		part, err := w.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := part.Write(f.data); err != nil {
			return err
		}
	}
	return w.Close()
}

// sums writes the checksums of all files of the release, as sha256sum reads them.
func (w *works) sums() error {
	list, err := os.ReadDir(w.out) // in the order of their names
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range list {
		data, err := os.ReadFile(filepath.Join(w.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	return os.WriteFile(filepath.Join(w.out, "SHA256SUMS"), []byte(b.String()), 0o644)
}
