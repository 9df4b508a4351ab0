package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// check looks at a release as somebody does who has got it: the checksums, what
// is in the archives, whether the programs are for the systems that they are
// said to be for, and whether the lists of modules name all that is in them.
func check(out string, list []target, log io.Writer) error {
	if err := checkSums(out); err != nil {
		return err
	}
	for _, t := range list {
		n, err := checkTarget(out, t)
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		fmt.Fprintf(log, "release: %s is all right, %d modules\n", t, n)
	}
	return nil
}

// checkSums holds all files against the checksums; each has to be there.
func checkSums(out string) error {
	text, err := os.ReadFile(filepath.Join(out, sumsFile))
	if err != nil {
		return err
	}
	said := map[string]string{}
	for line := range strings.Lines(string(text)) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok {
			return fmt.Errorf("%s: %q is no line of a checksum", sumsFile, line)
		}
		said[name] = sum
	}
	list, err := os.ReadDir(out)
	if err != nil {
		return err
	}
	for _, e := range list {
		if e.Name() == sumsFile {
			continue
		}
		sum, err := sumOf(filepath.Join(out, e.Name()))
		if err != nil {
			return err
		}
		if said[e.Name()] != sum {
			return fmt.Errorf("%s is not what its checksum says", e.Name())
		}
		delete(said, e.Name())
	}
	for name := range said {
		return fmt.Errorf("%s has a checksum and is not there", name)
	}
	return nil
}

// checkTarget looks at what is for one target, and returns how many modules the
// program is made of.
func checkTarget(out string, t target) (int, error) {
	found, err := filepath.Glob(filepath.Join(out, "helve-*-"+t.os+"-"+t.arch+t.packed()))
	if err != nil || len(found) != 1 {
		return 0, errors.Join(err, fmt.Errorf("there are %d archives", len(found)))
	}
	files, err := unpack(found[0])
	if err != nil {
		return 0, err
	}
	base := strings.TrimSuffix(filepath.Base(found[0]), t.packed())
	for _, name := range []string{"LICENSE", "README.md", "THIRD-PARTY-LICENCES.txt", "completions/helve.bash", "completions/helve.ps1", "man/helve.1"} {
		if len(files[base+"/"+name]) == 0 {
			return 0, fmt.Errorf("%s is not in the archive", name)
		}
	}
	program := files[base+"/"+t.program()]
	if err := madeFor(program, t); err != nil {
		return 0, err
	}
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return 0, err
	}
	if want := t.base(info.Main.Version); want != base {
		return 0, fmt.Errorf("the archive is called %s, and its program is %s", base, want)
	}
	list := filepath.Join(out, base+".cdx.json")
	if _, err := os.Stat(list); errors.Is(err, os.ErrNotExist) {
		return 0, errors.New("there is no list of modules: build with --tools")
	}
	return len(info.Deps), checkModules(list, info)
}

// madeFor tells whether a program is one for a system and processor.
func madeFor(program []byte, t target) error {
	r := bytes.NewReader(program)
	is := ""
	if f, err := elf.NewFile(r); err == nil {
		if f.Section(".interp") != nil {
			return errors.New("the program needs libraries of the system")
		}
		is = "linux/" + map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[f.Machine]
	} else if f, err := macho.NewFile(r); err == nil {
		is = "darwin/" + map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}[f.Cpu]
	} else if f, err := pe.NewFile(r); err == nil {
		is = "windows/" + map[uint16]string{pe.IMAGE_FILE_MACHINE_AMD64: "amd64", pe.IMAGE_FILE_MACHINE_ARM64: "arm64"}[f.Machine]
	}
	if is != t.String() {
		return fmt.Errorf("the program is for %q", is)
	}
	return nil
}

// checkModules holds a list of modules against what the program says.
func checkModules(path string, info *buildinfo.BuildInfo) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var list struct {
		Format   string `json:"bomFormat"`
		Version  string `json:"specVersion"`
		Metadata struct {
			Component struct{ Name, Version string }
		}
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	if main := list.Metadata.Component; list.Format != "CycloneDX" || list.Version == "" || main.Name != info.Main.Path || main.Version != info.Main.Version {
		return fmt.Errorf("%s is about %+v", filepath.Base(path), main)
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		if !slices.Contains(list.Components, struct{ Name, Version string }{m.Path, m.Version}) {
			return fmt.Errorf("%s does not name %s %s", filepath.Base(path), m.Path, m.Version)
		}
	}
	if !slices.ContainsFunc(list.Components, func(c struct{ Name, Version string }) bool { return c.Name == "std" }) {
		return fmt.Errorf("%s does not name Go's standard library", filepath.Base(path))
	}
	return nil
}

// unpack reads an archive.
func unpack(path string) (map[string][]byte, error) {
	if strings.HasSuffix(path, ".zip") {
		return unzip(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
}

func unzip(path string) (map[string][]byte, error) {
	r, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	files := map[string][]byte{}
	for _, e := range r.File {
		f, err := e.Open()
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(f)
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		files[e.Name] = data
	}
	return files, nil
}
