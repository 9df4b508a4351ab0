package lspclient

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/disk"

	"pgregory.net/rapid"
)

// write makes files under dir: names with slashes, then their texts. A name
// that ends with a slash is a folder.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		folder := filepath.Dir(path)
		if strings.HasSuffix(name, "/") {
			folder = path
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if folder == path {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRoots(t *testing.T) {
	const none = "none"
	for _, c := range []struct {
		name, id string
		files    map[string]string
		file     string
		want     string // relative to the project; none for false
	}{
		{"no marker", "gopls", nil, "a/b/x.go", "."},
		{"folder that is not there yet", "gopls", map[string]string{"a/go.mod": ""}, "a/new/deep/x.go", "a"},
		{"nearest of two", "gopls", map[string]string{"go.mod": "", "a/go.mod": ""}, "a/b/x.go", "a"},
		{"work before module", "gopls", map[string]string{"go.work": "", "a/go.mod": ""}, "a/b/x.go", "."},
		{"module without work", "gopls", map[string]string{"a/go.mod": ""}, "a/b/x.go", "a"},

		{"deno", "deno", map[string]string{"a/deno.json": ""}, "a/b/x.ts", "a"},
		{"deno is required", "deno", map[string]string{"package-lock.json": ""}, "a/x.ts", none},
		{"deno keeps typescript away", "typescript", map[string]string{"a/deno.jsonc": "", "a/b/yarn.lock": ""}, "a/b/x.ts", none},
		{"deno elsewhere does not", "typescript", map[string]string{"other/deno.json": "", "yarn.lock": ""}, "a/b/x.ts", "."},

		{"globbed", "csharp", map[string]string{"a/My.csproj": ""}, "a/b/x.cs", "a"},
		{"a solution before a project", "csharp", map[string]string{"All.sln": "", "a/My.csproj": ""}, "a/b/x.cs", "."},
		{"bare ending is no file of a kind", "csharp", map[string]string{"a/.csproj": ""}, "a/b/x.cs", "."},
		{"globbed folder", "sourcekit-lsp", map[string]string{"a/My.xcodeproj/": ""}, "a/b/x.swift", "a"},
		{"terraform", "terraform", map[string]string{"a/main.tf": ""}, "a/main.tf", "a"},
		{"haskell", "haskell-language-server", map[string]string{"a/x.cabal": ""}, "a/src/x.hs", "a"},

		{"crate", "rust", map[string]string{"a/Cargo.toml": "[package]\n"}, "a/src/x.rs", "a"},
		{"workspace", "rust", map[string]string{"Cargo.toml": "[workspace]\nmembers = []\n", "a/Cargo.toml": "[package]\n"}, "a/src/x.rs", "."},
		{"workspace with spaces", "rust", map[string]string{"Cargo.toml": "  [workspace.package]\r\n", "a/b/Cargo.toml": "[package]\n"}, "a/b/x.rs", "."},
		{"no workspace but a comment", "rust", map[string]string{"Cargo.toml": "# [workspace]\n", "a/Cargo.toml": "[package]\n"}, "a/x.rs", "a"},
		{"a crate that is a workspace", "rust", map[string]string{"Cargo.toml": "[workspace]\n", "a/Cargo.toml": "[package]\n[workspace]\n"}, "a/x.rs", "a"},
		{"no crate", "rust", nil, "a/x.rs", "."},

		{"prisma in its folder", "prisma", map[string]string{"a/prisma/schema.prisma": ""}, "a/prisma/schema.prisma", "a/prisma"},
		{"prisma beside", "prisma", map[string]string{"a/prisma/schema.prisma": ""}, "a/other/x.prisma", "a"},
		{"prisma with packages", "prisma", map[string]string{"a/schema.prisma": "", "package.json": ""}, "a/schema.prisma", none},

		{"kotlin: settings", "kotlin-ls", map[string]string{"settings.gradle.kts": "", "a/build.gradle.kts": ""}, "a/x.kt", "."},
		{"kotlin: wrapper", "kotlin-ls", map[string]string{"gradlew": "", "a/build.gradle": ""}, "a/x.kt", "."},
		{"kotlin: build", "kotlin-ls", map[string]string{"pom.xml": "", "a/build.gradle": ""}, "a/x.kt", "a"},
		{"kotlin: maven", "kotlin-ls", map[string]string{"a/pom.xml": ""}, "a/b/x.kt", "a"},

		{"bash", "bash", map[string]string{"a/package-lock.json": ""}, "a/x.sh", "."},
		{"dockerfile", "dockerfile", nil, "a/Dockerfile", "."},
		{"nix", "nixd", map[string]string{"a/flake.nix": ""}, "a/b/x.nix", "a"},

		{"java: nothing", "jdtls", map[string]string{"a/x.java": ""}, "a/x.java", none},
		{"java: one", "jdtls", map[string]string{"a/pom.xml": "<project/>"}, "a/src/x.java", "a"},
		{"java: modules", "jdtls", map[string]string{
			"pom.xml": "<modules><module>a</module></modules>", "a/pom.xml": "<modules><module> ./b/ </module></modules>", "a/b/pom.xml": "",
		}, "a/b/src/x.java", "."},
		{"java: module two folders down", "jdtls", map[string]string{"pom.xml": "<module>a\\b\\pom.xml</module>", "a/b/pom.xml": ""}, "a/b/x.java", "."},
		{"java: not a module", "jdtls", map[string]string{"pom.xml": "<module>c</module><module>a", "a/pom.xml": ""}, "a/x.java", "a"},
		{"java: settings first", "jdtls", map[string]string{"settings.gradle": "", "a/build.gradle": "", "a/pom.xml": ""}, "a/x.java", "."},
		{"java: gradle", "jdtls", map[string]string{"a/build.gradle.kts": "", ".project": ""}, "a/b/x.java", "a"},
		{"java: eclipse", "jdtls", map[string]string{"a/.project": ""}, "a/b/x.java", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, c.files)
			p := environment{dir: dir, worktree: dir}
			got, ok := byID(t, Builtin(), c.id).root(filepath.Join(dir, filepath.FromSlash(c.file)), p)
			if c.want == none {
				if ok {
					t.Errorf("it has a root: %s", got)
				}
				return
			}
			if want := filepath.Join(dir, filepath.FromSlash(c.want)); !ok || got != want {
				t.Errorf("%s, %v; not %s", got, ok, want)
			}
		})
	}
}

func TestRootsEndAtTheFolder(t *testing.T) {
	tree := t.TempDir()
	dir := filepath.Join(tree, "app")
	write(t, tree, map[string]string{"go.mod": "", "Cargo.toml": "[workspace]\n", "app/Cargo.toml": "[package]\n", "app/x": "", "lib/go.mod": ""})
	p := environment{dir: dir, worktree: tree}
	all := Builtin()
	for _, c := range []struct{ id, file, want string }{
		{"gopls", "app/a/x.go", "app"}, // a marker above the folder does not count
		{"rust", "app/a/x.rs", "."},    // but a workspace of the project does
		{"nixd", "app/a/x.nix", "."},   // and so does the project for nix
		{"gopls", "lib/a/x.go", "lib"}, // beside the folder, but of the project
		{"clangd", "lib/a/x.c", "."},   // with no marker there
		{"bash", "other/a/x.sh", "."},  // the folder does not hold it
		{"bash", "app/a/b/c/x.sh", "app"},
	} {
		got, ok := byID(t, all, c.id).root(filepath.Join(tree, filepath.FromSlash(c.file)), p)
		if want := filepath.Join(tree, c.want); !ok || got != want {
			t.Errorf("%s of %s: %s, %v; not %s", c.file, c.id, got, ok, want)
		}
	}
	// Where there is no project, the worktree is the top of the file system.
	alone := environment{dir: dir, worktree: filepath.VolumeName(dir) + string(filepath.Separator)}
	if got, ok := byID(t, all, "nixd").root(filepath.Join(dir, "x.nix"), alone); !ok || got != dir {
		t.Errorf("nixd: %s, %v", got, ok)
	}
}

func TestOutsideNeverMatches(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write(t, outside, map[string]string{"go.mod": "", "deno.json": "", "pom.xml": "", "Cargo.toml": ""})
	top := filepath.VolumeName(dir) + string(filepath.Separator)
	for _, p := range []environment{{dir: dir, worktree: dir}, {dir: dir, worktree: top}, {dir: dir}} {
		for _, s := range Builtin() {
			name := "x" + s.Extensions[0]
			for _, file := range []string{
				filepath.Join(outside, name), filepath.Join(dir+"-other", name), filepath.Join(filepath.Dir(dir), name),
				dir + string(filepath.Separator) + filepath.Join("..", name), name, "", dir,
			} {
				if root, ok := s.root(file, p); ok {
					t.Errorf("%s takes %q with the root %s", s.Name, file, root)
				}
			}
		}
	}
}

func TestRootThroughALink(t *testing.T) {
	base := t.TempDir()
	write(t, base, map[string]string{"project/a/go.mod": ""})
	link := filepath.Join(base, "link")
	if err := os.Symlink(filepath.Join(base, "project"), link); err != nil {
		t.Skip("no links here:", err)
	}
	gopls := byID(t, Builtin(), "gopls")
	p := environment{dir: link, worktree: link}
	if got, ok := gopls.root(filepath.Join(link, "a", "x.go"), p); !ok || got != filepath.Join(link, "a") {
		t.Errorf("%s, %v", got, ok)
	}
	project := actual(filepath.Join(base, "project"))
	if got, ok := gopls.root(filepath.Join(project, "a", "x.go"), p); !ok || got != filepath.Join(project, "a") {
		t.Errorf("%s, %v", got, ok)
	}
}

func TestHugeFolder(t *testing.T) {
	dir := t.TempDir()
	if holdsEnding(filepath.Join(dir, "none"), []string{".x"}) {
		t.Error("a folder that is not there has a file")
	}
	files := map[string]string{"a.x": ""}
	for i := range 600 {
		files[strings.Repeat("b", i%50+1)+strings.Repeat("c", i/50)] = ""
	}
	write(t, dir, files)
	if !holdsEnding(dir, []string{".x"}) || holdsEnding(dir, []string{".y"}) {
		t.Error("the one file in a folder of many was not told from none")
	}
}

// A root holds the file, is of the project, and has a marker or is the folder
// that is worked in.
func TestRootLaw(t *testing.T) {
	all := Builtin()
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		tree, err := os.MkdirTemp(base, "")
		if err != nil {
			t.Fatal(err)
		}
		s := rapid.SampledFrom(all).Draw(t, "server")
		depth := rapid.IntRange(1, 5).Draw(t, "depth")
		folders := []string{tree}
		for range depth {
			folders = append(folders, filepath.Join(folders[len(folders)-1], "d"))
		}
		if err := os.MkdirAll(folders[depth], 0o755); err != nil {
			t.Fatal(err)
		}
		markers := append(slices.Concat(s.steps...), "Cargo.toml", "flake.nix", "pom.xml")
		markers = append(markers, s.without...)
		for range rapid.IntRange(0, 3).Draw(t, "markers") {
			name := strings.ReplaceAll(filepath.Base(rapid.SampledFrom(markers).Draw(t, "marker")), "*", "x")
			at := rapid.SampledFrom(folders).Draw(t, "at")
			_ = os.WriteFile(filepath.Join(at, name), []byte("[workspace]\n<module>d</module>"), 0o644)
		}
		p := environment{dir: rapid.SampledFrom(folders).Draw(t, "dir"), worktree: tree}
		file := filepath.Join(rapid.SampledFrom(folders).Draw(t, "folder"), "x"+s.Extensions[0])
		root, ok := s.root(file, p)
		if ok && (!disk.Within(root, file) || !disk.Within(tree, root)) {
			t.Fatalf("the root of %s is %s", file, root)
		}
		if again, still := s.root(file, p); again != root || still != ok {
			t.Fatalf("the root of %s is %s, then %s", file, root, again)
		}
		if _, out := s.root(tree+"-beside"+string(filepath.Separator)+"x", p); out {
			t.Fatal("a file outside has a root")
		}
	})
}
