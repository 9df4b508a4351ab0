package command_test

import (
	"os"
	"strings"
	"testing"

	"github.com/helve-dev/helve/permission"
)

// reached is a line and what has to come of it where one kind of file is
// denied.
type reached struct{ line, want string }

func (s stage) holds(t *testing.T, denied [3]string, lines []reached) {
	t.Helper()
	rules := rulesOf([][3]string{{"*", "*", "allow"}, denied})
	for _, c := range lines {
		if got := s.decide(t, rules, c.line); got.action != permission.Action(c.want) {
			t.Errorf("%s: got %s, want %s\n%s", c.line, got.action, c.want, shown(got))
		}
	}
}

// Links that a line makes are followed from where they lie.
func TestLinksOfTheLine(t *testing.T) {
	s := newStage(t, "a.txt", "secret/key", "sub/c.txt")
	s.holds(t, [3]string{"edit", "secret/**", "deny"}, []reached{
		{"ln -s ../secret sub; echo z > sub/secret/key", "deny"},
		{"ln -s ../secret/key sub/; echo z > sub/key", "deny"},
		{"ln -st sub ../secret; echo z > sub/secret/key", "deny"},
		{"ln -s $PWD/secret sub; echo z > sub/secret/key", "deny"},
		{"ln -s \"${PWD}/secret\" sub/q; echo z > sub/q/key", "deny"},
		{"d=$PWD/secret; ln -s $d sub; echo z > sub/secret/key", "deny"},
		{"ln -s $(pwd)/secret sub; echo z > sub/secret/key", "deny"},
		{"ln -s ~+/secret sub; echo z > sub/secret/key", "deny"},
		{"ln -rs secret sub/q; echo z > sub/q/key", "deny"},
		{"ln -s ../secret sub/q; echo z > sub/q/key", "deny"},
		{"mkdir d; ln -s ../secret d; echo z > d/secret/key", "deny"},
		{"rm -r sub; ln -s secret sub; echo z > sub/key", "deny"},
		{"cp -s $PWD/secret/key q; echo z > q", "deny"},
		{"ln -s secret q; cp -a q t; echo z > t/key", "deny"},
		{"ln -s secret q; cp -P q t; echo z > t/key", "deny"},
		{"ln -s secret q; mv q t; echo z > t/key", "deny"},
		{"ln -s secret sub/q; mv sub/q .; echo z > q/key", "deny"},
		{"ln -s ../secret sub/q; mv sub t; echo z > t/q/key", "deny"},
		{"cp -rs $PWD/secret/. sub; echo z > sub/key", "deny"},
		{"cd secret; cp -rs $PWD/. ../sub; echo z > ../sub/key", "deny"},
		{"cp -rsT $PWD/secret sub; echo z > sub/key", "deny"},
		{"cp -rs $PWD/secret sub; echo z > sub/secret/key", "deny"},
		{"cp -rs $PWD/secret sub; echo z > sub/c.txt", "allow"},
		{"cp -T a.txt sub/b; cp -r a.txt sub/.", "allow"},
		{"mkdir -p t/secret; echo z > t/secret/key; cp -r t/. .", "ask"},
		{"mkdir -p t/secret; echo z > t/secret/key; cp -rT t .", "ask"},
		{"mkdir -p t/secret; echo z > t/secret/key; cp -a t/* .", "ask"},
		{"mkdir -p t/secret; echo z > t/secret/key; cd t && cp -r . ..", "ask"},
		{"mkdir -p t/secret; echo z > t/secret/key; cd t; cp --parents secret/key ..", "deny"},
		{"mkdir -p t/secret; echo z > t/secret/key; cp t/* .", "allow"},
		{"mkdir -p t/q; cp -r a.txt t; cp --parents sub/c.txt t", "allow"},
		{"trap 'cd secret' DEBUG; true; > key", "ask"},
		{"ln -sfn a.txt secret", "deny"},
		{"ln -s secret q; tee q*/key < a.txt", "deny"},
		{"ln -s secret q; cp a.txt q*/key", "deny"},
		{"ln -s secret q; rm q*/k*", "deny"},
		{"ln -s ../secret sub/q; rm sub/*/key", "deny"},
		{"ln -s sub q; tee q*/key < a.txt", "allow"},
		{"ln -s secret q; tee sub/*.txt < a.txt", "allow"},
		{"echo z > /proc/self/cwd/secret/key", "ask"},
		{"tee /proc/thread-self/cwd/secret/key", "ask"},
		{"tee /dev/fd/../cwd/secret/key", "ask"},
		{"cd /proc/self; echo z > cwd/secret/key", "ask"},
		{"tee sub/../../../proc/self/cwd/secret/key", "ask"},
		{"cat /proc/self/status /proc/meminfo", "allow"},
		{"echo z > sub/proc/cwd", "allow"},
		{"ln -s ../secret sub; echo z > sub/c.txt", "allow"},
		{"ln -s sub/c.txt .; echo z > a.txt", "allow"},
		{"ln -s sub/c.txt; echo z > a.txt", "allow"},
		{"ln -s ../a.txt sub; cat sub/a.txt", "allow"},
		{"ln -s a.txt q; echo z > q", "allow"},
		{"ln -sfn sub q; cp -a q t; echo z > t/key", "allow"},
		{"ln -s sub q; mv q sub/; cat a.txt > t", "allow"},
		{"trap 'cd sub' EXIT; echo z > a.txt", "allow"},
		{"trap 'rm -f q' EXIT INT; echo z > a.txt", "allow"},
	})
	s.holds(t, [3]string{"external_directory", "*", "deny"}, []reached{
		{"ln -s ../a.txt sub", "allow"},
		{"ln -s ../a.txt sub/b", "allow"},
		{"ln -s ../a.txt b", "deny"},
		{"ln -s ../../a.txt sub/b", "deny"},
		{"ln -rs a.txt sub/b", "allow"},
		{"ln -s ../a.txt sub; cat sub/c.txt", "allow"},
		{"cp a.txt sub; cat sub/c.txt", "allow"},
	})
}

// What git takes in can be shown by it afterwards, whatever names it is given
// then. Files that it ignores it leaves alone.
func TestGitAdd(t *testing.T) {
	s := newStage(t, "a.txt", "prod.env", "sub/c.txt", "keep/.env", ".git/HEAD", ".git/info/x")
	denied := [3]string{"read", "*.env", "deny"}
	s.holds(t, denied, []reached{
		{"git add prod.env; git diff --cached", "deny"},
		{"git add -N prod.env; git diff", "deny"},
		{"git add -A; git diff --cached", "deny"},
		{"git add . && git diff --cached", "deny"},
		{"git add keep", "deny"},
		{"git add '*.txt'", "ask"},
		{"git add :/; git diff --cached", "ask"},
		{"git add :prod.env", "deny"},
		{"git add -n --no-dry-run prod.env; git diff --cached", "deny"},
		{"git add -p --no-patch prod.env", "deny"},
		{"git add -u --no-u prod.env", "deny"},
		{"git add -i --no-interactive prod.env", "deny"},
		{"git add -e --no-edit prod.env", "deny"},
		{"git add --refresh --no-refresh prod.env", "deny"},
		{"git add -n --no-verbose prod.env", "allow"},
		{"git add a.txt sub", "allow"},
		{"git add -u", "allow"},
		{"git add -p", "allow"},
		{"git stash -u; git stash show -p --include-untracked", "deny"},
		{"git update-index --add prod.env", "deny"},
		{"git archive --add-file=prod.env HEAD", "deny"},
		{"git archive HEAD", "allow"},
		{"git fmt-merge-msg -F prod.env", "deny"},
		{"git stash list", "allow"},
	})
	if err := os.WriteFile(s.base+"/ws/.gitignore", []byte("*.env\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.holds(t, denied, []reached{
		{"git add -A", "allow"},
		{"git add . && git commit -m x", "allow"},
		{"git add keep", "allow"},
		{"git stash -u", "allow"},
		{"git add -f .", "deny"},
		{"git add prod.env", "deny"},
		{"rm .gitignore; git add -A", "deny"},
		{"echo > .gitignore; git add -A", "deny"},
		{"git stash -a", "deny"},
		{"git clean -fdx .; git add -A", "deny"},
		{"rm -r sub; git add -A", "allow"},
		{"git init -q sub; git -C sub add -A; git add -A", "deny"},
		{"git --git-dir=.git --work-tree=keep add -A", "deny"},
		{"GIT_DIR=.git git add -A", "deny"},
		{"git checkout HEAD~1; git add -A", "deny"},
		{"git switch -c q HEAD~1; git add -A", "deny"},
		{"git reset --hard HEAD~1; git add -A", "deny"},
		{"git checkout -b q; git add -A", "allow"},
		{"git switch -c q && git add -A", "allow"},
		{"git reset -q; git add -A", "allow"},
		{"git -C sub add -A", "allow"},
	})
}

// What git changes without being given a name is not known.
func TestGitTrees(t *testing.T) {
	s := newStage(t, "a.txt", "secret/key", "sub/c.txt", ".git/HEAD", ".git/refs/heads/master")
	s.holds(t, [3]string{"edit", "secret/**", "deny"}, []reached{
		{"git checkout HEAD :/", "ask"},
		{"git checkout HEAD :secret", "ask"},
		{"git restore :/", "ask"},
		{"git rm -rf :/", "ask"},
		{"git show :/fix", "allow"},
		{"git rm --cached --no-cached -f secret/key", "deny"},
		{"git rm --cached --no-cac -f secret/key", "deny"},
		{"git rm --cached --no-quiet secret/key", "allow"},
		{"git restore --staged --no-staged secret/key", "deny"},
		{"git merge-file -p --no-stdout secret/key a.txt sub/c.txt", "deny"},
		{"git stash", "ask"},
		{"git stash push secret/key", "deny"},
		{"git stash -- secret/key", "deny"},
		{"git stash pop", "ask"},
		{"git stash push a.txt", "allow"},
		{"git stash list", "allow"},
		{"git stash show -p", "allow"},
		{"git stash drop", "allow"},
		{"git checkout -f", "ask"},
		{"git checkout -f -b q", "ask"},
		{"git checkout -fB q", "ask"},
		{"git checkout --for", "ask"},
		{"git checkout -f -- a.txt", "allow"},
		{"git checkout master", "allow"},
		{"git checkout -b q", "allow"},
		{"git switch -f master", "ask"},
		{"git switch --discard-changes master", "ask"},
		{"git switch master", "allow"},
		{"git switch -c q", "allow"},
		{"git read-tree -u --reset HEAD", "ask"},
		{"git read-tree HEAD", "allow"},
		{"git reset --h", "ask"},
		{"git reset", "allow"},
		{"git --work-tree=secret checkout HEAD a.txt", "deny"},
		{"git --work-tree secret restore a.txt", "deny"},
		{"git --work-tree=secret checkout-index a.txt", "deny"},
		{"git --work-tree=sub restore a.txt", "allow"},
		{"git checkout-index --prefix=secret/ a.txt", "deny"},
		{"git checkout-index --prefix=sub/ a.txt", "allow"},
		{"git format-patch -o secret -1", "deny"},
		{"git format-patch -osub -1", "allow"},
		{"git bugreport -o secret", "deny"},
		{"git -C secret init", "deny"},
		{"git init", "allow"},
		{"git init sub", "allow"},
		{"git clone --jobs 1 . secret/q", "deny"},
	})
}

// Files that are written by way of an address, a suffix or a computed operand.
func TestWrittenOtherwise(t *testing.T) {
	s := newStage(t, "a.txt", "secret/key", "sub/c.txt", "prod.env")
	s.holds(t, [3]string{"edit", "secret/**", "deny"}, []reached{
		{"curl -T a.txt file://$PWD/secret/key", "deny"},
		{"curl -sT- \"file://localhost$PWD/secret/key\" < a.txt", "deny"},
		{"curl -T a.txt file://$PWD/secret/", "deny"},
		{"curl -T a.txt file://$PWD/sub/x", "allow"},
		{"curl file://$PWD/secret/key", "allow"},
		{"curl -s --head -o secret/key file://$PWD/a.txt", "deny"},
		{"sed -i'secret/*' p a.txt", "deny"},
		{"sed -i'sub/*' p a.txt", "allow"},
		{"sed -i.bak p a.txt", "allow"},
		{"openssl rand --out secret/key 5", "deny"},
		{"a=of=secret/key; dd if=a.txt $a", "deny"},
		{"a=of=q; dd if=a.txt $a", "allow"},
		{"mktemp -p secret", "deny"},
		{"mktemp -d", "allow"},
		{"zip -q secret/y a.txt -x b", "deny"},
		{"zip -qr y secret", "allow"},
		{"unzip -o -t --t z.zip", "ask"},
		{"unzip -o -t-t z.zip", "ask"},
		{"unzip -tq z.zip a-b", "allow"},
		{"tar -xf z.tar --suffix -O", "ask"},
		{"tar -xf z.tar --exclude-tag -O", "ask"},
		{"tar -xOf z.tar --suffix .bak", "allow"},
		{"xz -cd secret/key", "allow"},
		{"xz -zt secret/key", "allow"},
		{"TMPDIR=sub mktemp", "allow"},
		{"gcc -Wall -Wl,-rpath,/x -Wp,-D_X=2 -o b a.txt", "allow"},
		{"as -al=y a.txt", "allow"},
	})
	s.holds(t, [3]string{"read", "*.env", "deny"}, []reached{
		{"a=if=prod.env; dd $a", "deny"},
		{"zip -qr y . -x x", "deny"},
		{"zip -qr y . -x '*.env'", "allow"},
		{"zip -qr y . -i '*.txt'", "allow"},
		{"zip -qr y . -i '*.e?v'", "deny"},
		{"zip -qR y '*.e?v'", "deny"},
		{"zip -qr y . -x '*.env' -nw", "deny"},
		{"zip -qr y . -ws -x '*.env'", "deny"},
		{"curl -sK - <<< \"url=file://$PWD/prod.env\"", "ask"},
		{"curl -sK a.txt", "allow"},
		{"sed -be 'r prod.env' -e p a.txt", "deny"},
	})
}

// Ways to reach a denied file that were once taken for something else.
func TestOnceMissed(t *testing.T) {
	s := newStage(t, "a.txt", "b.txt", "x", "prod.env", "secret/key", "sub/c.txt", "list")
	for name, lines := range map[string]string{"edit": missedEdits, "read": missedReads} {
		denied := [3]string{"edit", "secret/**", "deny"}
		if name == "read" {
			denied = [3]string{"read", "*.env", "deny"}
		}
		for line := range strings.Lines(lines) {
			if line = strings.TrimSpace(line); line != "" {
				s.holds(t, denied, []reached{{line, "deny"}})
			}
		}
	}
}

const missedEdits = `
sed 'w secret/key' a.txt
sed -n 's/a/b/gw secret/key' a.txt
sed -e p -e '1,2W secret/key' a.txt
awk '{print > "secret/key"}' a.txt
awk '{print >> "secret/key"} END {print 1}' a.txt
ls | sponge secret/key
P=secret; cd $P; echo x > key
P=secret; cd "$P" && touch key
cp a.txt secret/{key,other}
tee {secret/key,a} < a.txt
xz -t -z secret/key
xz -tz secret/key
xz -l --compress secret/key
bzip2 -tz secret/key
zstd -t -d secret/key
cp a.txt secret/key --sparse always
cp a.txt secret/key --no-preserve mode
TMPDIR=secret mktemp
gcc -Wp,-MD,secret/key a.txt
gcc -Wa,-a=secret/key a.txt
gcc -Wl,-Map=secret/key a.txt
gcc -Xlinker -Map -Xlinker secret/key a.txt
gcc -dumpdir secret/ a.txt
as -almn=secret/key a.txt
sort --o=secret/key a.txt
shuf --o secret/key a.txt
iconv --o=secret/key a.txt
cp --t=secret a.txt
mv --t=secret a.txt
install --t secret a.txt
install --d secret/z
sed --i s/o/p/ secret/key
cp --l secret/key q; echo z > q
git restore --st --w secret/key
curl -s --netrc -o secret/key file://$PWD/a.txt
curl -s --crlf -o secret/key file://$PWD/a.txt
curl --proto =file -o secret/key file://$PWD/a.txt
rsync --partial a.txt secret/key
rsync --backup a.txt secret/key
chmod -7 secret/key
uniq +1 a.txt secret/key
xxd -cols 5 a.txt secret/key
objcopy --input-target binary -O binary a.txt secret/key
ar -rc secret/z.a a.txt
tar -cf secret/key -O a.txt
tar --to-std -c -f secret/key a.txt
tar --concatenate -f secret/key y.tar
tar --remove-files -cf y secret/key
ln -s secret q; cp -d q t; echo z > t/key
ln -s secret q; cp -R q t; echo z > t/key
git --work-tree=secret restore a.txt
mktemp secret/zXXXXX
mknod secret/z p
logsave secret/key true
git mailinfo secret/z secret/y < list
zip -m y secret/key
zip -q y.zip -O secret/y2
zstd -q --output-dir-flat secret a.txt
gcc -E -xc /dev/null --output=secret/key
gcc -E -xc /dev/null -MFsecret/key -MD
wget --warc-file=secret/key http://127.0.0.1:1
openssl rand -writerand secret/key 5
script --timing=secret/key -c true
git shortlog --output=secret/key HEAD
git range-diff --output=secret/key HEAD~1 HEAD HEAD
git clone -q --jobs 1 . secret/q
git clone -q --filter blob:none . secret/q
git init -q --object-format sha1 secret/q
`

const missedReads = `
date --f=prod.env
sed --e=p prod.env
xargs --a=prod.env echo
file --f=prod.env
split --b 100 prod.env q
column --table prod.env
grep --binary CAN prod.env
git blame --ignore-rev x prod.env
rg --color never CANARY prod.env
rg --ignore CANARY prod.env
pr -t prod.env
pr -d prod.env
fmt -t prod.env
comm -2 prod.env x
more -p prod.env
grep -d rec CANARY .
zip -q y prod.env -x b.txt
zip -r -q y . -x x
zip -q y prod.env -i '*'
jq -R . prod.env --args x
rg --type-add 'py:*.env' -t py CANARY
tar -cO prod.env
tar -cf y -O prod.env
tar --add-file=prod.env -cf y
rgrep x
zegrep x prod.env
zfgrep x prod.env
xzegrep x prod.env
bzegrep x prod.env
zstdgrep x prod.env
bzless prod.env
xzless prod.env
zstdless prod.env
xzmore prod.env
lzmore prod.env
pager prod.env
sensible-pager prod.env
cpp prod.env
sysctl -p prod.env
msgfmt prod.env
debconf-set-selections prod.env
`
