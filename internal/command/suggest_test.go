package command

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSuggestVectors(t *testing.T) {
	f, err := os.Open("testdata/shell/suggest.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		var v struct {
			ID, Command, Reason string
			Patterns            []string `json:"expect_patterns"`
			Exact               bool
		}
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		var want []Suggestion
		for _, p := range v.Patterns {
			want = append(want, Suggestion{p, v.Exact})
		}
		if diff := cmp.Diff(want, Parse(v.Command).Suggest()); diff != "" {
			t.Errorf("%s %q: %s (-want +got):\n%s", v.ID, v.Command, v.Reason, diff)
		}
	}
	if n < 11 {
		t.Errorf("%d vectors", n)
	}
}

// A suggestCase is a command line and the patterns offered for it; = stands for
// its exact text.
type suggestCase struct {
	command string
	want    []string
}

// TestSuggestPrefix has plain commands, and the patterns OpenCode offers.
func TestSuggestPrefix(t *testing.T) {
	checkSuggest(t, []suggestCase{
		{"echo a && echo b; echo c | grep d || true", []string{"echo *", "grep *", "true *"}},
		{"git log --oneline -5", []string{"git log *"}},
		{"npm run dev -- --x", []string{"npm run dev *"}},
		{"ls -la 2>&1 | tee out.txt", []string{"ls *", "tee *"}},
		{"(cd sub && ls)", []string{"ls *"}},
		{"echo $(cat f)", []string{"echo *", "cat *"}},
		{`echo "$(rm x)"`, []string{"echo *", "rm *"}},
		{"for i in 1 2; do echo $i; done", []string{"echo *"}},
		{"cat <<EOF\nx\nEOF", []string{"cat *"}},
		{"! ls", []string{"ls *"}},
		{"cd x", nil},
		{"", nil},
		{"# nothing", nil},
		{"git status $X", []string{"git status *"}},
		{"./build.sh a", []string{"./build.sh *"}},
		{"/usr/bin/git push origin", []string{"/usr/bin/git push *"}},
	})
}

// TestSuggestExact has commands whose beginning does not say what they do.
func TestSuggestExact(t *testing.T) {
	checkSuggest(t, []suggestCase{
		{"git", []string{"="}},
		{"git stash", []string{"="}},
		{"npm run", []string{"="}},
		{"make", []string{"="}},
		{"FOO=1 git status", []string{"="}},
		{"git -C dir status", []string{"="}},
		{"git --no-pager log", []string{"="}},
		{"docker compose -f x up", []string{"="}},
		{"git $X", nil},
		{"git 'st'atus", []string{"="}},
		{"git  status", []string{"="}},
		{"< f git status", []string{"="}},
		{"git push*", []string{"="}},
		{"export A=1", []string{"="}},
	})
}

// TestSuggestCarriers has commands that run others, or code.
func TestSuggestCarriers(t *testing.T) {
	checkSuggest(t, []suggestCase{
		{"nohup ls", []string{"="}},
		{"env ls", []string{"="}},
		{"timeout 5 ls", []string{"="}},
		{"time ls", []string{"=", "ls *"}},
		{"eval 'ls'", []string{"="}},
		{"bash x.sh", []string{"="}},
		{"bash <<EOF\nls\nEOF", []string{"="}},
		{"find . -name x", []string{"find *"}},
		{"find . -delete", []string{"="}},
		{"python x.py a", []string{"python x.py *"}},
		{"python3.12 x.py a", []string{"python3.12 x.py *"}},
		{"python -c 'print(1)'", []string{"="}},
		{"python3 -m venv x", []string{"="}},
		{"perl -pe s/a/b/ f", []string{"="}},
		{"node -e 1", []string{"="}},
		{"node s.js", []string{"node s.js *"}},
		{"awk '{print $1}' f", []string{"="}},
		{"npx prettier .", []string{"npx prettier *"}},
		{"npx sh -c ls", []string{"="}},
		{"poetry run pytest -q", []string{"poetry run pytest *"}},
		{"poetry run bash x", []string{"="}},
		{"npm exec sh", []string{"="}},
		{"docker exec web ls", []string{"="}},
		{"docker run nginx", []string{"docker run nginx *"}},
		{"docker run -v /:/h nginx", []string{"="}},
		{"go test ./...", []string{"go test *"}},
		{"go test -exec x ./...", []string{"="}},
		{"go run ./cmd/x a", []string{"go run ./cmd/x *"}},
		{"deno eval 1", []string{"="}},
		{"tar --to-command=x -xf f", []string{"="}},
		{"git -c alias.x=y x", []string{"="}},
	})
}

// TestSuggestNothing has commands that can not be named.
func TestSuggestNothing(t *testing.T) {
	checkSuggest(t, []suggestCase{
		{"`cat x` y", []string{"cat *"}},
		{"sudo $X", nil},
		{`sh -c "$X"`, nil},
		{"curl u | sh", []string{"curl *"}},
		{"curl u | python3 -", []string{"curl *"}},
		{"curl u | python3", []string{"curl *"}},
		{"f() { ls; }; f", []string{"ls *"}},
		{"A=1", nil},
		{"> f", nil},
		{"[ -f x ]", nil},
		{"ls &&& id", nil},
		{"ls\x00", nil},
		{"'' x", nil},
	})
}

func checkSuggest(t *testing.T, tests []suggestCase) {
	t.Helper()
	for _, tt := range tests {
		var want []Suggestion
		for _, w := range tt.want {
			if w == "=" {
				want = append(want, Suggestion{tt.command, true})
			} else {
				want = append(want, Suggestion{w, false})
			}
		}
		if diff := cmp.Diff(want, Parse(tt.command).Suggest()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.command, diff)
		}
	}
}

func TestPrefix(t *testing.T) {
	tests := map[string]string{
		"unknown command subcommand":  "unknown",
		"touch foo.txt":               "touch",
		"git checkout main":           "git checkout",
		"docker run nginx":            "docker run",
		"aws s3 ls my-bucket":         "aws s3 ls",
		"npm run dev script":          "npm run dev",
		"docker compose up service":   "docker compose up",
		"consul kv get config":        "consul kv get",
		"git checkout":                "git checkout",
		"npm run dev":                 "npm run dev",
		"":                            "",
		"single":                      "single",
		"git":                         "git",
		"docker compose -f x up":      "docker compose -f",
		"git -C dir status":           "git -C",
		"python -m venv":              "python -m",
		"git config --global a.b c":   "git config --global",
		"kubectl rollout restart d/x": "kubectl rollout restart",
	}
	for in, want := range tests {
		words := strings.Fields(in)
		if got := strings.Join(words[:min(prefixLen(words), len(words))], " "); got != want {
			t.Errorf("the prefix of %q is %q, want %q", in, got, want)
		}
	}
}

// TestArityTable counts the table's entries by its own source: a name that is
// lost or added by mistake shows.
func TestArityTable(t *testing.T) {
	src, err := os.ReadFile("arity.go")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(src), "switch key {")
	count := map[int]int{}
	for i, key := range strings.Split(table, `"`) {
		if i%2 == 1 {
			n, ok := arity(key)
			if !ok {
				t.Errorf("%q is not found", key)
			}
			count[n]++
		}
	}
	if diff := cmp.Diff(map[int]int{1: 25, 2: 64, 3: 47}, count); diff != "" {
		t.Errorf("entries by number of words (-want +got):\n%s", diff)
	}
}
