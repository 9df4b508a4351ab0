package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// check looks at what is for a target as somebody does who has got it: what is
// in the archive, whether the program is for the system that it is said to be
// for, and whether the list of modules names all that is in it.
func check(out string, t target) error {
	found, err := filepath.Glob(filepath.Join(out, "helve-*-"+t.os+"-"+t.arch+t.packed()))
	if err != nil || len(found) != 1 {
		return errors.Join(err, fmt.Errorf("there are %d archives", len(found)))
	}
	files, err := unpack(found[0])
	if err != nil {
		return err
	}
	base := strings.TrimSuffix(filepath.Base(found[0]), t.packed())
	for _, name := range []string{"LICENSE", "README.md", "THIRD-PARTY-LICENCES.txt", "completions/helve.bash", "completions/helve.ps1", "man/helve.1", t.program()} {
		if len(files[base+"/"+name]) == 0 {
			return fmt.Errorf("%s is not in the archive", name)
		}
	}
	info, err := buildinfo.Read(bytes.NewReader(files[base+"/"+t.program()]))
	if err != nil {
		return err
	}
	if want := t.base(info.Main.Version); want != base {
		return fmt.Errorf("the archive is called %s, and its program is %s", base, want)
	}
	for key, value := range map[string]string{"GOOS": t.os, "GOARCH": t.arch, "CGO_ENABLED": "0"} {
		if !slices.Contains(info.Settings, debug.BuildSetting{Key: key, Value: value}) {
			return fmt.Errorf("the program is not built with %s=%s", key, value)
		}
	}
	return checkModules(filepath.Join(out, base+".cdx.json"), info)
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
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	if strings.HasSuffix(path, ".zip") {
		r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return nil, err
		}
		for _, e := range r.File {
			if files[e.Name], err = fs.ReadFile(r, e.Name); err != nil {
				return nil, err
			}
		}
		return files, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err == nil {
			files[h.Name], err = io.ReadAll(r)
		}
		if err != nil {
			return nil, err
		}
	}
}
