package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestChoose(t *testing.T) {
	all, err := choose("")
	if err != nil || len(all) != 6 {
		t.Errorf("all: %v, %v", all, err)
	}
	some, err := choose("windows/arm64,linux/amd64,windows/arm64")
	if err != nil || !slices.Equal(some, []target{{"windows", "arm64"}, {"linux", "amd64"}}) {
		t.Errorf("some: %v, %v", some, err)
	}
	if _, err := choose("linux/mips"); err == nil {
		t.Error("a target that does not exist was taken")
	}
}

func TestDebVersion(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3":      "1.2.3",
		"v1.2.3-rc.1": "1.2.3~rc.1",
		"v0.0.0-20261116134921-5d9939644f67+dirty": "0.0.0~20261116134921.5d9939644f67+dirty",
	} {
		if got := debVersion(version); got != want {
			t.Errorf("%s: %s, not %s", version, got, want)
		}
	}
}

func TestDebianName(t *testing.T) {
	for name, want := range map[string]string{
		"helve":              "usr/bin/helve",
		"man/helve-call.1":   "usr/share/man/man1/helve-call.1.gz",
		"man/helve.json.5":   "usr/share/man/man5/helve.json.5.gz",
		"completions/_helve": "usr/share/zsh/vendor-completions/_helve",
	} {
		if got, ok := debianName(name); !ok || got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if to, ok := debianName("completions/helve.ps1"); ok {
		t.Errorf("PowerShell's goes to %s", to)
	}
}

// The same files at the same time are the same bytes; checksums are those that
// sha256sum knows.
func TestArchives(t *testing.T) {
	files := []member{{"helve", 0o755, []byte("program")}, {"man/helve.1", 0o644, bytes.Repeat([]byte("page "), 1000)}}
	at := time.Date(2026, 11, 16, 12, 0, 1, 0, time.FixedZone("elsewhere", 3600))
	for ending, write := range map[string]func(io.Writer, string, []member, time.Time) error{".tar.gz": writeTar, ".zip": writeZip} {
		var one, two bytes.Buffer
		if err := errors.Join(write(&one, "top", files, at), write(&two, "top", files, at.UTC())); err != nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Errorf("%s: two archives of the same files differ: %v", ending, err)
		}
	}
	w := &works{out: t.TempDir()}
	if err := errors.Join(os.WriteFile(filepath.Join(w.out, "a"), []byte("abc"), 0o644), w.sums()); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(filepath.Join(w.out, "SHA256SUMS"))
	if string(text) != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a\n" {
		t.Errorf("%s", text)
	}
}

// The command is called helve in every archive, and goes into the package.
func TestProgram(t *testing.T) {
	for system, want := range map[string]string{"linux": "helve", "darwin": "helve", "windows": "helve.exe"} {
		if got := (target{system, "amd64"}).program(); got != want {
			t.Errorf("%s: %s", system, got)
		}
	}
}

func TestLicences(t *testing.T) {
	dir := t.TempDir()
	if _, err := licences(dir); err == nil {
		t.Error("a module without a licence was taken")
	}
	for _, name := range []string{"LICENSE.md", "notice.txt", "readme"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := licences(dir)
	if err != nil || !slices.Equal(got, []string{"LICENSE.md", "notice.txt"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// The nfpm file names the maintainer that the changelog is signed by.
func TestMaintainer(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "release", "nfpm.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\nmaintainer: "+maintainer+"\n") {
		t.Errorf("the package is not of %s", maintainer)
	}
}
