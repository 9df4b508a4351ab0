package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/plugin"
)

// What a config file has run is trusted with it: a change of any such file is
// one of the config file.
func TestNamedFilesAreTrusted(t *testing.T) {
	for name, c := range map[string]struct {
		config, file string
		others       map[string]string // further files
	}{
		"plugin":           {config: `{"plugin": ["./my-plugin.ts"]}`, file: "my-plugin.ts"},
		"with options":     {config: `{"plugin": [["./my-plugin.ts", {}]]}`, file: "my-plugin.ts"},
		"without ending":   {config: `{"plugin": ["./my-plugin"]}`, file: "my-plugin.ts"},
		"by address":       {config: `{"plugin": ["file://$DIR/my-plugin.ts"]}`, file: "my-plugin.ts"},
		"folder":           {config: `{"plugin": ["./mine"]}`, file: "mine/src/index.ts"},
		"of plans":         {config: `{"plugin": ["./.opencode/plans/x.ts"]}`, file: ".opencode/plans/x.ts"},
		"import":           {config: `{"plugin": ["./p/a.ts"]}`, file: "p/lib/b.ts", others: map[string]string{"p/a.ts": `import {b} from "./lib/b"`}},
		"import as js":     {config: `{"plugin": ["./p/a.ts"]}`, file: "p/b.ts", others: map[string]string{"p/a.ts": `import './b.js'`}},
		"hidden import":    {config: `{"plugin": ["./p/a.ts"]}`, file: "p/b.ts", others: map[string]string{"p/a.ts": `import "\x2e\u002f\u{62}.ts"`}},
		"import of import": {config: `{"plugin": ["./p/a.ts"]}`, file: "p/c.json", others: map[string]string{"p/a.ts": `import "./b"`, "p/b.ts": "require(`./c.json`)"}},
		"computed import":  {config: `{"plugin": ["./p/a.ts"]}`, file: "p/lib/b.ts", others: map[string]string{"p/a.ts": "import(`./lib/${x}.ts`)"}},
		"tsconfig":         {config: `{"plugin": ["./p/a.ts"]}`, file: "tsconfig.json", others: map[string]string{"p/a.ts": `import "x"`}},
		"hook":             {config: `{"hooks": {"before": [{"command": ["python3", ".opencode/hooks/guard.py"]}]}}`, file: ".opencode/hooks/guard.py"},
		"hook program":     {config: `{"hooks": {"after": [{"command": ["./guard"]}]}}`, file: "guard"},
		"hook line":        {config: `{"hooks": {"event": [{"command": "cat | sh 'hooks/tell.sh' --quiet"}]}}`, file: "hooks/tell.sh"},
		"hook by folder":   {config: `{"hooks": {"event": [{"command": "$PWD/hooks/tell.sh"}]}}`, file: "hooks/tell.sh"},
	} {
		t.Run(name, func(t *testing.T) {
			_, opt := project(t)
			config, file := filepath.Join(opt.Dir, "helve.json"), filepath.Join(opt.Dir, c.file)
			write(t, config, strings.ReplaceAll(c.config, "$DIR", filepath.ToSlash(opt.Dir)))
			write(t, file, `{"paths": 1}`)
			for other, text := range c.others {
				write(t, filepath.Join(opt.Dir, other), text)
			}
			if _, err := trustNow(opt, "helve.json"); err != nil {
				t.Fatal(err)
			}
			if !TrustedFile(opt, config) || len(load(t, opt).Withheld) > 0 && c.file[0] != '.' {
				t.Fatal("it is not trusted")
			}
			write(t, file, `{"paths": 2}`)
			if TrustedFile(opt, config) {
				t.Error("a change of the file is not seen")
			}
			held := load(t, opt).Withheld
			if !slices.ContainsFunc(held, func(w Withheld) bool { return w.File == config }) {
				t.Errorf("it is in force: %v", held)
			}
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if TrustedFile(opt, config) {
				t.Error("that the file is gone is not seen")
			}
		})
	}
}

// A file that comes to be where a config file names one is a change, and one
// that nothing of the config runs is none.
func TestNamedFilesThatCome(t *testing.T) {
	_, opt := project(t)
	config := filepath.Join(opt.Dir, "helve.json")
	write(t, config, `{"plugin": ["./my-plugin.ts", "a-package"], "hooks": {"before": [{"command": ["./guard"]}]}}`)
	if _, err := trustNow(opt); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(opt.Dir, "other.ts"), "x")
	write(t, filepath.Join(opt.Dir, "a-package"), "x")
	if !TrustedFile(opt, config) {
		t.Error("another file counts")
	}
	for _, name := range []string{"my-plugin.ts", "guard"} {
		write(t, filepath.Join(opt.Dir, name), "x")
		if TrustedFile(opt, config) {
			t.Errorf("%s came unseen", name)
		}
		if _, err := trustNow(opt); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{filepath.Join(opt.Dir, "opencode.json"), filepath.Join(opt.Dir, "other.ts")} {
		if TrustedFile(opt, path) {
			t.Errorf("%s is trusted", path)
		}
	}
}

// What can not be hashed can not be trusted.
func TestTooManyHookFiles(t *testing.T) {
	_, opt := project(t)
	var words []string
	for i := range maxHookFiles + 1 {
		name := "hook" + strings.Repeat("x", i)
		write(t, filepath.Join(opt.Dir, name), "x")
		words = append(words, name)
	}
	write(t, filepath.Join(opt.Dir, "helve.json"), `{"hooks": {"before": [{"command": "`+strings.Join(words, "; ")+`"}]}}`)
	if _, err := trustNow(opt); err == nil {
		t.Error("trusted")
	}
}

// The files of a source are told apart from those that were trusted.
func TestTrustNamesWhatChanged(t *testing.T) {
	_, opt := project(t)
	folder := filepath.Join(opt.Dir, ".opencode")
	states := func() map[string]string {
		t.Helper()
		all, err := TrustStatus(opt)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, s := range all {
			for _, f := range s.Files {
				got[filepath.Base(s.Path)+" "+f.Path] = f.State
			}
		}
		return got
	}
	write(t, filepath.Join(folder, "tool/a.ts"), "a")
	write(t, filepath.Join(folder, "tool/b.ts"), "b")
	write(t, filepath.Join(folder, "tool/c.ts"), "c")
	write(t, filepath.Join(opt.Dir, "helve.json"), `{"plugin": ["./p.ts"]}`)
	write(t, filepath.Join(opt.Dir, "p.ts"), "p")
	want := map[string]string{".opencode tool/a.ts": "", ".opencode tool/b.ts": "", ".opencode tool/c.ts": "", "helve.json helve.json": "", "helve.json p.ts": ""}
	if diff := cmp.Diff(want, states()); diff != "" {
		t.Error(diff)
	}
	if _, err := trustNow(opt); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "tool/b.ts"), "other")
	write(t, filepath.Join(folder, "tool/d.ts"), "d")
	write(t, filepath.Join(opt.Dir, "p.ts"), "other")
	if err := os.Remove(filepath.Join(folder, "tool/c.ts")); err != nil {
		t.Fatal(err)
	}
	want = map[string]string{
		".opencode tool/a.ts": "", ".opencode tool/b.ts": "changed", ".opencode tool/c.ts": "gone", ".opencode tool/d.ts": "new",
		"helve.json helve.json": "", "helve.json p.ts": "changed",
	}
	if diff := cmp.Diff(want, states()); diff != "" {
		t.Error(diff)
	}
	if _, err := trustNow(opt); err != nil {
		t.Fatal(err)
	}
	for name, state := range states() {
		if state != "" {
			t.Errorf("%s is %s after trusting", name, state)
		}
	}
}

// Logs and what package managers leave are no part of a folder's hash, but
// where they could be code.
func TestStrayFiles(t *testing.T) {
	_, opt := project(t)
	folder := filepath.Join(opt.Dir, ".opencode")
	write(t, filepath.Join(folder, "tool/a.ts"), `import "../used.log" with {type: "text"}; import "../plans/x"`)
	for _, name := range []string{"used.log", "plans/x.ts"} {
		write(t, filepath.Join(folder, name), "x")
	}
	trust := func() {
		t.Helper()
		if _, err := trustNow(opt); err != nil {
			t.Fatal(err)
		}
	}
	trust()
	for _, name := range []string{
		"edited.log", "logs/x.log", "bun.lock", "bun.lockb", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", ".gitignore", ".DS_Store", "Thumbs.db",
		"plugin/edited.log", "plans/other.md",
	} {
		for range 2 {
			write(t, filepath.Join(folder, name), name)
			if !TrustedFolder(opt, folder) {
				t.Errorf("%s takes trust away", name)
				trust()
			}
		}
	}
	for _, name := range []string{
		"package.json", "state.json", "command/x.md", "logs/x.ts", "tool/run.log", "tools/bun.lock", "used.log", "plans/x.ts", "cache/x", "tmp/x.json",
	} {
		write(t, filepath.Join(folder, name), "another")
		if TrustedFolder(opt, folder) {
			t.Errorf("%s does not count", name)
		}
		trust()
	}
}

// Folders that may still come are told of, and not trusted when they do.
func TestMissingFolders(t *testing.T) {
	root, opt := project(t)
	opt.Worktree, opt.Dir = opt.Dir, filepath.Join(opt.Dir, "a/b")
	if err := os.MkdirAll(opt.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range load(t, opt).Folders {
		if f.Missing {
			rel, _ := filepath.Rel(root, f.Path)
			got = append(got, filepath.ToSlash(rel))
			if f.Trusted == f.Guarded || TrustedFolder(opt, f.Path) != f.Trusted {
				t.Errorf("got %+v", f)
			}
		}
	}
	want := []string{"home/.config/helve", "proj/a/b/.opencode", "proj/a/b/.helve", "proj/.opencode", "proj/.helve"}
	if diff := cmp.Diff(want, slices.DeleteFunc(got, func(s string) bool { return s == "home/.config/opencode" })); diff != "" {
		t.Error(diff)
	}
	write(t, filepath.Join(opt.Dir, ".opencode/tool/x.ts"), "x")
	if TrustedFolder(opt, filepath.Join(opt.Dir, ".opencode")) {
		t.Error("a folder that came later is trusted")
	}
}

// A setting that has no effect where it stands is not told as one that trust
// would put into force.
func TestHelveKeysElsewhere(t *testing.T) {
	_, opt := project(t)
	write(t, filepath.Join(opt.Dir, "opencode.json"), `{"hooks": {"before": [{"command": ["./x"]}]}, "custom": {}}`)
	c := load(t, opt)
	if len(c.Withheld) > 0 || len(c.Problems) != 2 || c.PolicyError != nil || len(c.Hooks.Before) > 0 {
		t.Errorf("withheld %v, problems %v, %v", c.Withheld, c.Problems, c.PolicyError)
	}
}

func TestLeads(t *testing.T) {
	for src, want := range map[string][]string{
		`import x from "./x"`:                 {"./x"},
		"const a = '../a.js', b = `./b`":      {"../a.js", "./b"},
		`import "\x2e/x.ts?raw"`:              {"./x.ts"},
		"\"\\\n./x\"":                         {"./x"},
		`"\\" + "./y"`:                        {"./y"},
		"`./lib/${name}.ts`":                  {"./lib/"},
		`"./open`:                             nil,
		`import "zod"; "\u{zz}" "\u12"`:       nil,
		`require("file:///srv/x.ts")`:         {"/srv/x.ts"},
		`"` + strings.Repeat("./", 600) + `"`: nil,
	} {
		if diff := cmp.Diff(want, importCandidates([]byte(src))); diff != "" {
			t.Errorf("%s: %s", src, diff)
		}
	}
}

// No text makes the search for names fail, and an unescaped name is found in
// any surroundings that do not quote it.
func FuzzLeads(f *testing.F) {
	f.Add([]byte(`import "./x"`))
	f.Add([]byte(`\u{`))
	f.Add([]byte(`\x`))
	f.Fuzz(func(t *testing.T, src []byte) {
		all := importCandidates(append(slices.Clone(src), "\n\"./found\"\n"...))
		if !slices.Contains(all, "./found") {
			t.Errorf("got %q", all)
		}
	})
}

// Of a command that counts which is run, not what it reads or writes.
func TestHookPrograms(t *testing.T) {
	for _, test := range []struct {
		hook HookCommand
		want string
	}{
		{HookCommand{Line: "jq -r .x >> .opencode/edited.log"}, "jq"},
		{HookCommand{Line: "./a.sh && python3 -u tools/b.py 'x y' | tee log; cat src/m.txt"}, "./a.sh python3 tools/b.py tee cat"},
		{HookCommand{Line: "A=1 env bash c.sh < d.txt"}, "bash c.sh"},
		{HookCommand{HookCommand: plugin.HookCommand{Command: []string{"python3.12", "guard.py", "notes.md"}}}, "python3.12 guard.py"},
		{HookCommand{HookCommand: plugin.HookCommand{Command: []string{".opencode/hooks/guard.py", "x"}}}, ".opencode/hooks/guard.py"},
	} {
		if got := strings.Join(HookPrograms(test.hook), " "); got != test.want {
			t.Errorf("%+v: %q, not %q", test.hook, got, test.want)
		}
	}
}
