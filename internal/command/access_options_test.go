package command_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOptionsOfTheirOwn has options that mean something else than the same letters
// of other commands, or change what arguments are.
func TestOptionsOfTheirOwn(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"pr -t a", "read a"},
		{"pr -d a", "read a"},
		{"pr -l 5 a", "read a"},
		{"fmt -t a", "read a"},
		{"fmt -w 5 a", "read a"},
		{"fold -w 5 a", "read a"},
		{"comm -2 a b", "read a, read b"},
		{"join -1 2 a b", "read a, read b"},
		{"more -p a", "read a"},
		{"less -p x a", "read a"},
		{"grep -d rec x a", "read a deep"},
		{"grep -d skip x a", "read a"},
		{"zip -q y a -x b", "write y, read a"},
		{"zip -q y a -i '*'", "write y, read a"},
		{"zip -r -q y . -x x", "write y deep, read . deep"},
		{"zip -r y . -x '*.log' -i '*.go'", "write y deep +*.go, read . deep +*.go"},
		{"zip -r y . -i '*.go' -q", "write y deep +*.go, read . deep +*.go"},
		{"zip -x b @ y a", "write y, read a"},
		{"zip -qR y '*.e?v'", "read . deep, write y, read *.e?v"},
		{"zip -m y a", "write y, read a, write a"},
		{"zip -q y.zip -O z", "write z, write y.zip"},
		{"zip -s 64k -q y a", "write y, read a"},
		{"jq -R . a --args x", "read a"},
		{"jq --args . x y", ""},
		{"jq . a", "read a"},
		{"rg --type-add 'py:*.env' -t py x", "read . deep visible"},
		{"rg -t py x", "read . deep visible +*.py +*.pyi"},
		{"chmod -7 a", "write a"},
		{"chmod -R -x a", "write a deep"},
		{"chmod 7 a", "write a"},
		{"chattr -i a", "write a"},
		{"chattr +i a", "write a"},
		{"uniq +1 a b", "read a, write b, read +1, write a"},
		{"uniq -c a b", "read a, write b"},
		{"uniq --strange a b", "read b, read a, write b"},
		{"xxd -cols 5 a b", "read a, write b"},
		{"xxd -c5 -p a b", "read a, write b"},
		{"xxd --len 5 a b", "read a, write b"},
		{"objcopy --input-target binary -O binary a b", "read a, write a, write b"},
		{"objcopy -d 1 a b", "read a, write a, write b, read 1, write 1"},
		{"ar -rc z.a a", "read z.a, write z.a, read a"},
		{"ar rcs z.a a b", "read z.a, write z.a, read a, read b"},
		{"ar rca x z.a a", "read z.a, write z.a, read a"},
		{"ar --plugin x rc z.a a", "read x, read z.a, write z.a, read a"},
		{"ar t z.a a", "read z.a"},
		{"objcopy --dump-section .x=b a", "write b, read a, write a"},
		{"objcopy --add-section .x=b a", "read b, read a, write a"},
		{"ar x z.a", "read z.a, write ., write ?"},
		{"sed -i'b/*' p a", "read a, write a, write b/p, write b/a"},
		{"sed -i.bak p a", "read a, write a"},
		{"sed --in-place='b/*' p a", "read a, write a, write b/p, write b/a"},
		{"sed -ie p a", "read a, write a"},
		{"perl -i'b/*' -pe x a", "read a, write a, write b/a"},
		{"perl -pi -e x a", "read a, write a"},
		{"perl -i x a", "read x, read a, write a"},
		{"perl x a", "read x"},
		{"curl -T a file:///b", "read a, read /b, write /b"},
		{"curl -T a file:///b/", "read a, read /b/, write /b/, write /b/ <new"},
		{"curl -T a https://x", "read a"},
		{"curl file:///a", "read /a"},
		{"curl file://$PWD/a", "read $PWD/a?"},
		{"openssl rand --out a 5", "write a"},
		{"openssl rand -out a 5", "write a"},
		{"openssl rand -writerand a 5", "write a"},
		{"zegrep x a", "read a"},
		{"rgrep x", "read . deep"},
		{"rgrep x a", "read a deep"},
		{"bzless a", "read a"},
		{"sysctl -p a", "read a"},
		{"sysctl -a", ""},
		{"cpp a", "read a"},
		{"msgfmt a", "read a"},
		{"gcc-12 -c a.c -o a.o", "write a.o, read a.c"},
		{"gcc -MFa -MD b.c", "write a, read b.c"},
		{"gcc --output=a b.c", "write a, read b.c"},
		{"xz --files=a", "read a, read ?, write ?"},
		{"xz --files", "read ?, write ?"},
		{"xz -S .x a", "read a, write a"},
		{"zstd --output-dir-flat a b", "write a, write a/ <new, read b, write b"},
		{"mktemp a.XXXX", "write a.XXXX"},
		{"mktemp -p a", "write a, write a/ <new"},
		{"mktemp -d", ""},
		{"mktemp -t x", ""},
		{"mknod a p", "write a"},
		{"logsave a true b", "write a"},
		{"script --timing=a b", "write a, write b"},
		{"script -q a", "write a"},
		{"git mailinfo a b", "write a, write b"},
		{"git clone --jobs 1 x a", "write a"},
		{"git clone --strange x y", "write y"},
		{"git init --object-format sha1 a", "write a"},
		{"git init", "write ., write ./ <new"},
		{"git -C a init", "visit a, write . in a, write ./ in a <new"},
		{"git shortlog --output=a", "write a"},
		{"git rm a --cached", ""},
		{"git rm a", "write a deep"},
		{"wget --warc-file=a https://x/y", "write a, write y"},
		{"sqlite3 -json a 'select 1'", "read a, write a"},
		{"sqlite3 -strange a b", "read b, write b, read a, write a"},
		{"ptx -G a b", "read a, write b"},
		{"ack -p x a", "read a deep visible"},
	} {
		if diff := cmp.Diff(c.want, accesses(c.command)); diff != "" {
			t.Errorf("%s:\n%s", c.command, diff)
		}
	}
}

// TestTar has ways to say that tar makes an archive, and that it does not.
func TestTar(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"tar -cO a", "read a deep"},
		{"tar -cOf y a", "read a deep, write y"},
		{"tar -cf y -O a", "read a deep, write y"},
		{"tar -O -cf y a", "read a deep, write y"},
		{"tar --to-std -c -f y a", "read a deep, write y"},
		{"tar --concatenate -f y a.tar", "read a.tar deep, write y"},
		{"tar --remove-files -cf y a", "read a deep, write a deep, write y"},
		{"tar --remove-f -cf y a", "read a deep, write a deep, write y"},
		{"tar --add-file=a -cf y", "read a, write y"},
		{"tar --fil=y -c a", "read y, read ?, read a deep, write y"},
		{"tar -xO -f y a", "read y"},
		{"tar -xf y -O", "read y"},
		{"tar -x --to-stdout --file y", "read y"},
		{"tar -xf y -t", "read y, write ., write ?"},
		{"tar -czf y --exclude x a", "read a deep, write y"},
		{"tar -czf y --exc x a", "read x, read a deep, write y, read x deep"},
		{"tar -cf y -- -a", "read -a deep, write y"},
		{"tar cfC y d a", "visit d, read a in d deep, write y"},
		{"tar -cvzf y a", "read a deep, write y"},
		{"tar -C d -xzf y", "visit d, read y, write . in d, write ?"},
		{"tar -xzvfy", "read y, write ., write ?"},
		{"tar --delete -f y a", "read a deep, write y"},
		{"tar -tvf y", "read y"},
		{"tar -df y a", "read y"},
	} {
		if diff := cmp.Diff(c.want, accesses(c.command)); diff != "" {
			t.Errorf("%s:\n%s", c.command, diff)
		}
	}
}

// TestGitFiles has commands of git that take in, change or write more than they name.
func TestGitFiles(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"git add a", "read a deep fresh"},
		{"git add -A", "read . deep fresh"},
		{"git add .", "read . deep fresh"},
		{"git add -f .", "read . deep"},
		{"git add -u", ""},
		{"git add -p", ""},
		{"git stash", "write ., write ?"},
		{"git stash push -m x a", "write a deep"},
		{"git stash -u", "write ., write ?, read . deep fresh"},
		{"git stash -a", "write ., write ?, read . deep"},
		{"git stash show -p", ""},
		{"git stash pop", "write ., write ?"},
		{"git switch -f main", "write ., write ?"},
		{"git switch main", ""},
		{"git checkout -f", "write ., write ?"},
		{"git checkout -f -- a", "write a deep"},
		{"git checkout -f HEAD a", "write HEAD deep maybe, write a deep"},
		{"git read-tree -u --reset HEAD", "write ., write ?"},
		{"git --work-tree=b checkout HEAD a", "visit b, write HEAD in b deep maybe, write a in b deep"},
		{"git -C x --work-tree=b restore a", "visit x, visit b in x, write a in x/b deep"},
		{"git format-patch -o b -1", "write b, write b/ <new"},
		{"git bugreport -o b", "write b, write b/ <new"},
		{"git checkout-index --prefix=b/ a", "write b/, write b/ <new, write a"},
		{"git archive --add-file=a HEAD", "read a"},
		{"git update-index --add a", "read a"},
		{"dd $X", "read $X?, write $X?"},
		{"gpg --homedir b -k", "write b, write b/ <new"},
		{"sqlite3 :memory: '.trace b'", "read :memory:, write :memory:, write b"},
	} {
		if diff := cmp.Diff(c.want, accesses(c.command)); diff != "" {
			t.Errorf("%s:\n%s", c.command, diff)
		}
	}
}
