package command_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helve-dev/helve/internal/command"
)

// accesses gives the files of a command line as text: what is done, the name,
// and what else is known.
func accesses(line string) string {
	var all []string
	for _, u := range command.Parse(line).Units {
		for _, a := range new(command.Reach).Of(u) {
			s := [...]string{"visit", "read", "write", "connect"}[a.Kind] + " " + a.Path.Value
			if !a.Path.Literal && !a.Path.Glob {
				s += "?"
			}
			if a.Path.Value != "" && (a.Dir.Path != "" || !a.Dir.Known) {
				s += " in " + a.Dir.Path
			}
			if a.Deep {
				s += " deep"
			}
			if a.Visible {
				s += " visible"
			}
			if a.Maybe {
				s += " maybe"
			}
			if a.Fresh {
				s += " fresh"
			}
			for mark, list := range map[string][]string{" +": a.Only, " -": a.Except, " /": a.Shut} {
				if list != nil {
					s += mark + strings.Join(list, mark)
				}
			}
			if a.Soft {
				s += " soft"
			}
			for _, w := range a.Into {
				s += " <" + w.Value
			}
			all = append(all, s)
		}
	}
	return strings.Join(all, ", ")
}

func TestAccesses(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		// redirections
		{"a > b", "write b"},
		{"a >> b 2> c", "write b, write c"},
		{"a >| b", "write b"},
		{"a &> b", "write b"},
		{"a &>> b", "write b"},
		{"a >& b", "write b"},
		{"a {fd}> b", "write b"},
		{"a <> b", "read b, write b"},
		{"a < b", "read b"},
		{"$(<b)", "read b"},
		{"a 2>&1 >&2 1>&- >&3- <&0", ""},
		{"a >/dev/null 2>/dev/stderr <&3 >/dev/fd/3", ""},
		{"a <<< x; a <<E\nE", ""},
		{"a > /dev/tcp/h/1 < /dev/udp/h/1", "connect /dev/tcp/h/1, connect /dev/udp/h/1"},
		{"a > $X", "write $X?"},
		{"a > *.c", "write *.c"},
		{"> b", "write b"},
		{"{ a; } > b", "write b"},
		// reading
		{"cat a -n -- -b", "read a, read -b"},
		{"cat - < a", "read a"},
		{"/bin/cat a", "read a"},
		{"'cat' \"a b\"", "read a b"},
		{"head -n 5 -c3 a", "read a"},
		{"head -5 a", "read a"},
		{"cat <(a) >(b)", ""},
		{"grep x", ""},
		{"grep x a b", "read a, read b"},
		{"grep -e x a", "read a"},
		{"grep -ex a", "read a"},
		{"grep -f a b", "read a, read b"},
		{"grep --file=a b", "read a, read b"},
		{"grep -rn x a", "read a deep"},
		{"grep -r x", "read . deep"},
		{"grep --rec x a", "read a deep"},
		{"grep --include '*.c' -A 3 x a", "read a"},
		{"rg x", "read . deep visible"},
		{"rg --hidden x a", "read a deep"},
		{"rg -uu x a", "read a deep"},
		{"rg --files a", "visit a"},
		{"grep -r --include=*.go --include '*.c' x", "read . deep +*.go +*.c"},
		{"grep -r --exclude=.env x a", "read a deep -.env"},
		{"grep -r --exclude-dir=node_modules x a", "read a deep /node_modules"},
		{"grep -r --include=$X x a", "read a deep"},
		{"grep -r --exclude=$X x a", "read a deep"},
		{"grep -r --include=*.go --exclude=x_* x a", "read a deep +*.go"},
		{"rg -g '*.go' x", "read . deep +*.go"},
		{"rg -g '!x/' x", "read . deep visible /x"},
		{"rg -g '*.go' -g 'a/*' x", "read . deep"},
		{"rg -tgo x", "read . deep visible +*.go"},
		{"rg -t strange x", "read . deep visible"},
		{"sed -n p a", "read a"},
		{"sed -i s/x/y/ a", "read a, write a"},
		{"sed -i.bak -e x a", "read a, write a"},
		{"sed --in-place=.b -f s a", "read s, read a, write a"},
		{"awk -F: -v x=1 '{print}' a b=2", "read a"},
		{"awk -f p a", "read p, read a"},
		{"jq --arg a b .x f", "read f"},
		{"jq --slurpfile a b .x f", "read b, read f"},
		{"sort -o a b", "write a, read b"},
		{"sort -oa b", "write a, read b"},
		{"sort --output=a -k 2 b", "write a, read b"},
		{"sort --out a b", "write a, read b, read a"},
		{"uniq a b", "read a, write b"},
		{"diff -u a b", "read a, read b"},
		{"base64 -w 0 a", "read a"},
		{"source a b", "read a"},
		{". a", "read a"},
		{"bash -x a b", "read a"},
		{"bash -c 'x' a", ""},
		{"python3 a.py b", "read a.py"},
		{"python3.12 -c x b", ""},
		{"python3 -m x b", "read b maybe"},
		{"perl -ne x a", "read a"},
		{"perl -i -pe x a", "read a, write a"},
		{"node a.js b", "read a.js"},
		{"wc -l $X", "read $X?"},
		{"date -f x.secret", "read x.secret"},
		{"date --file=x.secret +%s", "read x.secret"},
		// writing
		{"tee -a a b", "write a, write b"},
		{"rm -f a", "write a"},
		{"rm -rf a", "write a deep"},
		{"mkdir -p -m 700 a/b", "write a/b"},
		{"chmod 600 a", "write a"},
		{"chmod -x a", "write a"},
		{"chmod -R u+x a b", "write a deep, write b deep"},
		{"chown --reference=r a", "visit r, write a"},
		{"truncate -s 0 a", "write a"},
		{"cp a b", "read a, write b <a"},
		{"cp a b --sparse always", "read a, write b <a"},
		{"cp --parents a/b c", "read a/b, write c <a/b, write c/a/b"},
		{"xz -t a", "read a"},
		{"xz -t -z a", "read a, write a"},
		{"xz -cd a", "read a"},
		{"git --work-tree=a --work-tree=b log", "visit a, visit b"},
		{"git rm --cached a", ""},
		{"git rm --cached --no-cac a", "write a deep"},
		{"gcc -Wl,-Map,m a.c", "write m, read a.c"},
		{"TMPDIR=t mktemp", "write t/ <new"},
		{"cp -r a b c", "read a deep, read b deep, write c deep <a <b"},
		{"cp -t c a b", "read a, read b, write c <a <b"},
		{"cp --target-directory=c a", "read a, write c <a"},
		{"mv a b", "read a deep, write a deep, write b deep <a"},
		{"cp /dev/null a", "read /dev/null, write a </dev/null"},
		{"install -d a", "write a"},
		{"ln a b", "read a deep, write a, write b <a"},
		{"cp -l a b", "read a, write a, write b <a"},
		{"link a b", "read a, write a, write b"},
		{"ln -s ../a sub/b", "write sub/b soft <../a"},
		{"ln -s a", "write . soft <a"},
		{"ln -sr ../a sub/b", "read ../a deep, write sub/b <../a"},
		{"ln -s --t=b a", "write b soft <a"},
		{"cp -s a b", "read a, write b soft <a"},
		{"cp -as a b", "read a deep, write b deep soft <a"},
		{"dd if=a of=b bs=1", "read a, write b"},
		{"dd of=$X", "write $X?"},
		{"gzip -k a", "read a, write a"},
		{"gzip -c a", "read a"},
		{"zip -r a b", "write a deep, read b deep"},
		{"unzip a -d b", "read a, write b, write ?"},
		{"unzip -l a", "read a"},
		{"tar czf a b", "read b deep, write a"},
		{"tar -czf a -C d b", "visit d, read b in d deep, write a"},
		{"tar xf a", "read a, write ., write ?"},
		{"tar -x -f a -C d", "visit d, read a, write . in d, write ?"},
		{"tar --extract --file=a", "read a, write ., write ?"},
		{"tar -tf a b", "read a"},
		{"tar xOf a", "read a"},
		{"tar cf - a", "read a deep"},
		{"rsync -a a host:b", "read a deep"},
		{"rsync -a a b", "read a deep, write b deep <a"},
		{"patch -p1 < a", "read a, write ., write ?"},
		// going and looking
		{"ls", "visit ."},
		{"ls -la a", "visit a"},
		{"cd a", "visit a"},
		{"cd", "visit ~"},
		{"cd -P a", "visit a"},
		{"cd -", ""},
		{"pushd +1", ""},
		{"cd a && cat b", "visit a, read b in a"},
		{"find", "visit ."},
		{"find -L a b -name c -newer d", "visit a, visit b, visit d"},
		{"find a -fprint b -fprintf c x", "visit a, write b, write c"},
		{"find a -delete", "visit a, write a, write ?"},
		{"tree -o a b", "write a, visit b"},
		{"make -C a -f b x", "visit a, read b in a"},
		{"git status", ""},
		{"git -C a diff --output=b", "visit a, write b in a"},
		{"git diff a b", "read a maybe, read b maybe"},
		{"git log -p -- a", "read a"},
		{"grep -d recurse x a", "read a deep"},
		{"git diff --no-index a b", "read a deep, read b deep"},
		{"git show HEAD:a", "read a"},
		{"git --git-dir=a log", "visit a"},
		{"git rm --cached a", ""},
		{"git mv a b", "read a deep, write a deep, write b deep <a"},
		{"git commit -F - -m x", ""},
		{"git commit -F a", "read a"},
		{"git apply a", "read a, write ., write ?"},
		// the network
		{"curl -o a https://x/y", "write a"},
		{"curl -sLoa https://x/y", "write a"},
		{"curl -O https://x/y?z", "write y"},
		{"curl -T a -d @b -F c=@d;type=x -F e=f https://x", "read a, read b, read d"},
		{"curl -d a@b https://x", "read b maybe"},
		{"curl file:///a/b", "read /a/b"},
		{"wget https://x/y", "write y"},
		{"wget -qO- https://x/y", ""},
		{"wget -O a https://x/y", "write a"},
		// nothing is known of these
		{"echo a b", ""},
		{"frobnicate a", ""},
		{"$X a", "read a maybe"},
		{"docker run --env-file .env x", "read .env"},
		{"xargs -a f cat -a x", "read f, read -a, read x, read ?"},
	} {
		got := accesses(c.command)
		if strings.Contains(c.command, "xargs") {
			got = strings.Replace(got, "read -a, ", "", 1)
			c.want = strings.Replace(c.want, "read -a, ", "", 1)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", c.command, diff)
		}
	}
}

// The table has each command once, and only words it knows.
func TestAccessTable(t *testing.T) {
	names := map[string]bool{}
	for line := range strings.Lines(strings.TrimSpace(command.AccessTable)) {
		left, right, ok := strings.Cut(strings.TrimSpace(line), " | ")
		if !ok {
			t.Fatalf("no bar: %s", line)
		}
		prefix := ""
		if strings.HasPrefix(left, "git ") {
			prefix, left = "git ", strings.ReplaceAll(left, "git ", "")
		}
		for name := range strings.FieldsSeq(left) {
			if names[prefix+name] {
				t.Errorf("%s%s stands twice", prefix, name)
			}
			names[prefix+name] = true
		}
		options := map[string]bool{}
		for i, f := range strings.Fields(right) {
			if len(f) > 1 && f[0] == '-' && f[1] != ',' {
				name := f[:len(f)-len(strings.TrimLeft(f[2:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.,"))]
				if options[name] {
					t.Errorf("%s: %s stands twice", left, name)
				}
				options[name] = true
				use, _, _ := strings.Cut(strings.TrimLeft(strings.TrimPrefix(f, name), "=:?"), "!")
				use, _, _ = strings.Cut(use, ";")
				if !strings.Contains(" - -- -r r w rw v d T E F @ k u i x X g t n A D p* P* b s S l L B deep all bold +w +r @r soft flat parents test pack lift h a K force index tree m  ", " "+use+" ") {
					t.Errorf("%s: %s does something unknown: %s", left, f, use)
				}
				continue
			}
			known := strings.Contains(" deep stop whole glue resp page loose vars remote shy fresh @v @r @F +w ", " "+f+" ")
			if list := strings.Trim(strings.NewReplacer("*", "", ",", "").Replace(f), "-rwWvumMU"); !known && (i > 0 || list != "") {
				t.Errorf("%s: what is %s?", left, f)
			}
		}
	}
	if len(names) < 200 {
		t.Errorf("only %d commands", len(names))
	}
}

func TestConstants(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"for f in a 'b c' *.go; do x $f; done", "f: b c *.go a"},
		{"for f in a; do x $f; done; for f in b; do y $f; done", "f: a b"},
		{"for f in a; do x; done; y $f", ""},
		{"for f in $x; do y $f; done", ""},
		{"for f; do y $f; done", ""},
		{"for f in a; do f=b; y $f; done", ""},
		{"for f in a; do y ${f:=b}; done", ""},
		{"for f in a; do read f; y $f; done", ""},
		{"for f in a; do eval x; y $f; done", ""},
		{"for f in a; do $x; y $f; done", ""},
		{"for f in a; do ((f=1)); y $f; done", ""},
		{"x=a; y $x", "x: a"},
		{"y $x; x=a", ""},
		{"x=a; x=b; y $x", ""},
		{"false && x=a; y $x", ""},
		{"x=a y; z $x", ""},
		{"x=a; printf -v x b; y $x", ""},
		{"x=a; IFS=b; y $x", ""},
		{"x=~/a; y $x", ""},
		{"x=a; export x; y $x", ""},
		{"x=a &\ny $x", ""},
		{"x=a; trap x=b DEBUG; y $x", ""},
		{"x=(", ""},
	} {
		var all []string
		for name, words := range command.Parse(c.command).Constants() {
			s := name + ":"
			for _, w := range words {
				s += " " + w.Value
			}
			all = append(all, s)
		}
		if got := strings.Join(all, ", "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.command, got, c.want)
		}
	}
}

// Whatever a unit looks like, its files can be told.
func FuzzAccesses(f *testing.F) {
	for _, s := range []string{"cat a", "tar xzf", "cp -t", "curl -F a=@", "find -fprint", "ln -s", "git -C", "dd of=", "jq --arg", "unzip -d", "chmod -x", "cd -- "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		parsed := command.Parse(line)
		for _, u := range parsed.Units {
			for _, a := range new(command.Reach).Of(u) {
				if a.Why == "" {
					t.Errorf("%q: nothing says why %q is reached", line, a.Path.Value)
				}
			}
		}
		parsed.Constants()
	})
}
