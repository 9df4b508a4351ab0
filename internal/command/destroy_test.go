package command

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// brief is a loss in one line: kind, dir if any, paths, then what else.
func brief(l Loss) string {
	kinds := map[LossKind]string{Deleted: "delete", Emptied: "empty", Replaced: "replace", Discarded: "discard", Cleaned: "clean", Forgotten: "forget"}
	parts := []string{kinds[l.Kind]}
	names := func(words []Word) string {
		var out []string
		for _, w := range words {
			v := w.Value
			if w.Glob {
				v = "glob:" + v
			}
			out = append(out, v)
		}
		return strings.Join(out, ",")
	}
	if l.Dir.Path != "" || !l.Dir.Known {
		parts = append(parts, fmt.Sprintf("in(%s,%v)", l.Dir.Path, l.Dir.Known))
	}
	if len(l.Paths) > 0 {
		parts = append(parts, names(l.Paths))
	}
	if len(l.From) > 0 {
		parts = append(parts, "from "+names(l.From))
	}
	if l.Name != "" {
		parts = append(parts, "named "+l.Name)
	}
	for text, is := range map[string]bool{"TREE": l.Tree, "WHOLE": l.Whole, "MOVE": l.Move, "IGNORED": l.Ignored, "ONLY": l.Only, "UNKNOWN": l.Unknown} {
		if is {
			parts = append(parts, text)
		}
	}
	first := len(parts)
	for i, p := range parts {
		if i > 0 && p == strings.ToUpper(p) && strings.Trim(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
			first = min(first, i)
		}
	}
	slices.Sort(parts[first:])
	return strings.Join(parts, " ")
}

func TestLosses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		command string
		want    []string
	}{
		// nothing is lost
		{"ls -la; cat x | grep y; echo hi >> log; make > /dev/null 2>&1", nil},
		{"rmdir d; mkdir -p e; touch f; trash x", nil},
		{"git status; git add -A; git commit -m 'rm -rf /'; git checkout -b new; git stash list; git stash pop; git clean -n; git reset; git reset --soft HEAD~", nil},
		{"git restore --staged f; git rm --cached f; git push; git branch -a; git log; git diff > /dev/null", nil},
		{"echo 'rm -rf x'; echo \"> y\"", nil},
		{"cp -n a b; mv -n a b; ln -s a b; ln a b; tee -a f; sed s/a/b/ f; perl -ne print f; tar cf x.tar d; tar tf x.tar; unzip -l x.zip", nil},
		{"find . -name x -print; find . -exec cat {} +; find . -type f", nil},
		{"cmd 2>&1; cmd >&2; cmd 3>&-", nil},
		{"curl https://example.org; wget -q https://example.org", nil},

		// removing
		{"rm a", []string{"delete a"}},
		{"rm -rf a b", []string{"delete a,b TREE"}},
		{"/bin/rm -fr -- -x", []string{"delete -x TREE"}},
		{"rm --recursive --force d", []string{"delete d TREE"}},
		{"rm --rec d", []string{"delete d TREE"}},
		{"rm *.o", []string{"delete glob:*.o"}},
		{`rm "a b" 'c'\''d'`, []string{"delete a b,c'd"}},
		{"rm -rf $X", []string{"delete TREE UNKNOWN"}},
		{"rm -rf build/$X", []string{"delete build TREE UNKNOWN"}},
		{"rm -rf a $X", []string{"delete a TREE UNKNOWN"}},
		{"rm -rf $(cat list)", []string{"delete TREE UNKNOWN"}},
		{"cd sub && rm -r d", []string{"delete in(sub,true) d TREE"}},
		{"(cd sub; rm x); rm y", []string{"delete in(sub,true) x", "delete y"}},
		{"if true; then rm x; fi; f() { rm y; }; echo $(rm z)", []string{"delete x", "delete y", "delete z"}},
		{"unlink x; shred -u -n 3 y", []string{"delete x", "empty y"}},
		{"sudo rm -rf x", []string{"delete x TREE"}},
		{"bash -c 'rm -rf x'", []string{"delete x TREE"}},
		{"find . -name '*.pyc' | xargs rm -f", []string{"delete UNKNOWN"}},
		{"find . -name '*.pyc' -delete", []string{"delete . named *.pyc TREE"}},
		{"find a b -type f -delete", []string{"delete a,b TREE"}},
		{"find . -name x -exec rm -rf {} +", []string{"delete . named x TREE"}},
		{"find . -name x -exec cp {} back/ \\;", []string{"replace back/ UNKNOWN"}},
		{"find -delete", []string{"delete . TREE"}},
		{"find . \\( -name a -o -name b \\) -delete", []string{"delete . TREE"}},
		{"find . ! -name keep -delete", []string{"delete . TREE"}},

		// writing over
		{"> f", []string{"empty f"}},
		{": > f; echo x >| g; cmd &> h; cmd >& i", []string{"empty f", "empty g", "empty h", "empty i"}},
		{"{ echo a; echo b; } > f", []string{"empty f"}},
		{"cat a > $OUT", []string{"empty UNKNOWN"}},
		{"make 2> err.log > out.log", []string{"empty err.log", "empty out.log"}},
		{"truncate -s 0 f g", []string{"empty f,g"}},
		{"echo x | tee f g", []string{"empty f,g"}},
		{"dd if=/dev/zero of=disk.img bs=1M", []string{"empty disk.img"}},
		{"sed -i s/a/b/ f g", []string{"empty f,g"}},
		{"sed -Ei.bak -e s/a/b/ f", []string{"empty f"}},
		{"sed -n -e p --in-place=.bak f", []string{"empty f"}},
		{"perl -pi -e s/a/b/ f", []string{"empty f"}},
		{"perl -i.bak -pe s/a/b/ *.c", []string{"empty glob:*.c"}},
		{"gawk -i inplace '{print}' f", []string{"empty f"}},
		{"sort -o f f; curl -so f https://example.org; wget -O g https://example.org", []string{"empty f", "empty f", "empty g"}},
		{"cp a b", []string{"replace b from a"}},
		{"cp -r a b c/", []string{"replace c/ from a,b"}},
		{"cp -t d a b", []string{"replace d from a,b"}},
		{"mv a b", []string{"replace b from a MOVE"}},
		{"mv --target-directory=d a", []string{"replace d from a MOVE"}},
		{"install -m 755 a bin/b", []string{"replace bin/b from a"}},
		{"install -d bin", nil},
		{"ln -sf a b", []string{"replace b from a", "delete b"}},
		{"rsync -a --delete src/ dst/", []string{"delete dst/ TREE"}},
		{"rsync -a src/ host:dst/", nil},
		{"tar xzf a.tgz -C d", []string{"replace in(d,true) UNKNOWN"}},
		{"tar -xf a.tar", []string{"replace UNKNOWN"}},
		{"unzip -o a.zip -d d", []string{"replace in(d,true) UNKNOWN"}},
		{"patch -p1 < x.diff", []string{"replace UNKNOWN"}},

		// git
		{"git checkout -- .", []string{"discard ."}},
		{"git checkout .", []string{"discard ."}},
		{"git checkout HEAD~1 -- a b", []string{"discard a,b"}},
		{"git checkout main", []string{"discard main"}},
		{"git checkout -f main", []string{"discard WHOLE", "discard main"}},
		{"git -C sub checkout -- x", []string{"discard in(sub,true) x"}},
		{"cd a && git -C b reset --hard", []string{"discard in(a/b,true) WHOLE"}},
		{"git -c core.pager=cat restore a", []string{"discard a"}},
		{"git restore --staged --worktree :/", []string{"discard WHOLE"}},
		{"git restore 'src/*.c'", []string{"discard src TREE"}},
		{"git reset --hard HEAD~3", []string{"discard WHOLE"}},
		{"git reset --merge; git reset --keep", []string{"discard WHOLE", "discard WHOLE"}},
		{"git switch --discard-changes main; git switch -f x", []string{"discard WHOLE", "discard WHOLE"}},
		{"git clean -fd", []string{"clean ."}},
		{"git clean -fdx a", []string{"clean a IGNORED"}},
		{"git clean -fX -e keep", []string{"clean . IGNORED ONLY"}},
		{"git stash", []string{"discard WHOLE"}},
		{"git stash push -m x -- a", []string{"discard a"}},
		{"git stash -u", []string{"discard WHOLE", "clean WHOLE"}},
		{"git stash --all", []string{"discard WHOLE", "clean IGNORED WHOLE"}},
		{"git stash drop; git stash clear", []string{"forget", "forget"}},
		{"git rm -r d", []string{"delete d TREE"}},
		{"git rm f", []string{"delete f"}},
		{"git mv -f a b", []string{"replace b from a MOVE"}},
		{"git merge --abort; git rebase --abort; git rebase --skip; git am --abort", []string{"discard WHOLE", "discard WHOLE", "discard WHOLE", "discard WHOLE"}},
		{"git worktree remove --force ../x", []string{"delete ../x TREE"}},
		{"git branch -D x; git push --force; git push -f origin x; git push origin +x; git push origin :x; git tag -d v; git reflog expire --expire=now --all",
			[]string{"forget", "forget", "forget", "forget", "forget", "forget", "forget"}},
		{"git --git-dir=/x/.git --work-tree=/y reset --hard", []string{"discard UNKNOWN WHOLE"}},
	}
	for _, tt := range tests {
		var got []string
		for _, l := range Parse(tt.command).Losses() {
			got = append(got, brief(l))
			if l.Why == "" {
				t.Errorf("%s: nobody is told why", tt.command)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.command, diff)
		}
	}
}

// FuzzLosses: whatever is read, losses name words that are known, or say that
// they are not.
func FuzzLosses(f *testing.F) {
	for _, s := range []string{
		"rm -rf $X a", "git -C", "git -C x clean", "git stash push -- ''", "cp -t", "cp --target-directory", "sed -i", "perl -i", "find -exec",
		"> ''", "cmd >& $x", "rm ''", "git checkout :", "tar x", "install -t d", "git rm '*'", "ln -f", "dd of=", "tee", "mv a", "rsync a:b c --delete",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, command string) {
		for _, l := range Parse(command).Losses() {
			for _, w := range append(slices.Clone(l.Paths), l.From...) {
				if !w.Literal && !w.Glob {
					t.Fatalf("%q is not known", w.Raw)
				}
			}
			if len(l.Paths) == 0 && !l.Unknown && !l.Whole && l.Kind != Forgotten {
				t.Fatalf("%q: a loss of nothing: %+v", command, l)
			}
		}
	})
}
