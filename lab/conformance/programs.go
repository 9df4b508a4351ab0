package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// programs are the folders of foreign programs that npm has filled, and the node
// that runs them.
type programs struct {
	dirs []string
	node string
}

// openPrograms takes a list of folders, with the separator that PATH has.
func openPrograms(list string) (*programs, error) {
	p := &programs{}
	for _, dir := range filepath.SplitList(list) {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		p.dirs = append(p.dirs, dir)
	}
	if len(p.dirs) == 0 {
		return nil, errors.New(`no folder of programs is given: --tools "$(.ci/mcp-tools)"`)
	}
	var err error
	if p.node, err = p.find("node-{os}-{arch}/bin/node"); err != nil {
		p.node, err = exec.LookPath("node")
	}
	return p, err
}

// find returns the path of the first of some files of packages that is there.
// Packages with machine code come in one package per machine, with or without an
// install script that moves it.
func (p *programs) find(files ...string) (string, error) {
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	for _, file := range files {
		file = strings.NewReplacer("{os}", runtime.GOOS, "{arch}", arch).Replace(file)
		for _, dir := range p.dirs {
			path := filepath.Join(dir, "node_modules", filepath.FromSlash(file))
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("%s is not installed: .ci/mcp-tools fetches it", strings.Join(files, ", "))
}

// script returns the command line of a JavaScript program.
func (p *programs) script(file string) ([]string, error) {
	path, err := p.find(file)
	return []string{p.node, path}, err
}

// version reads the version of an installed package.
func (p *programs) version(pkg string) string {
	var about struct{ Version string }
	path, err := p.find(pkg + "/package.json")
	if err == nil {
		text, _ := os.ReadFile(path) // where it cannot be read there is no version
		_ = json.Unmarshal(text, &about)
	}
	return about.Version
}

// env is the environment of the programs in a world.
func (p *programs) env(w *proof.World) []string {
	// Some of them hand only HOME on to what they start.
	return w.Env("PATH="+filepath.Dir(p.node)+string(os.PathListSeparator)+os.Getenv("PATH"), "XDG_CONFIG_HOME="+filepath.Join(w.Home, ".config"))
}

// pixel is a PNG of one red pixel, and silence a WAV of no sound.
const (
	pixel   = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="
	silence = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="
)

// newWorld makes a world with a project, and the rules that hold in it.
func newWorld() (*proof.World, error) {
	w, err := proof.NewWorld()
	if err != nil {
		return nil, err
	}
	image, bad := base64.StdEncoding.DecodeString(pixel)
	sound, worse := base64.StdEncoding.DecodeString(silence)
	return w, errors.Join(bad, worse, w.Write("note.txt", "the first line\n"), w.Write("keep/file.txt", "kept\n"),
		w.Write("pixel.png", string(image)), w.Write("silence.wav", string(sound)),
		w.Write("../home/.config/helve/helve.json", `{"permission": {"read": "allow", "edit": "allow", "bash": {"*": "allow", "rm *": "deny"}}}`))
}

// runProgram runs a program in the project to its end, or to its limit, together
// with everything that it starts, and returns what it prints. An error has its
// last words.
func runProgram(ctx context.Context, w *proof.World, limit time.Duration, env []string, argv ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := w.Command(ctx, argv...)
	var out, log bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &out, &log
	err := cmd.Run()
	if cmd.Process != nil {
		_ = proof.EndGroup(cmd.Process) // what it left behind; mostly there is nothing
	}
	if err != nil || ctx.Err() != nil {
		said := strings.TrimSpace(out.String() + log.String())
		err = fmt.Errorf("%s: %w: …%s", filepath.Base(argv[0]), errors.Join(err, ctx.Err()), strings.ToValidUTF8(said[max(0, len(said)-600):], ""))
	}
	return out.String(), err
}
