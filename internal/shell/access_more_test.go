package shell_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFurtherAccesses has files that commands reach in ways that are easily
// missed, and lines beside them that reach none.
func TestFurtherAccesses(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		// addresses
		{"curl FILE:///a/.env", "read /a/.env"},
		{"curl File://localhost/a", "read /a"},
		{"curl file:/a", "read /a"},
		{"curl file:///a/%2eenv", "read /a/.env"},
		{"curl 'file:///a?x#y'", "read /a"},
		{"curl 'fil{e}:///a'", "read fil{e}:///a?"},
		{"curl 'file:///a/.en{v}'", "read /a/.en{v}?"},
		{"curl --url=FILE:///a", "read /a"},
		{"curl --proto-default file /a", "read /a"},
		{"curl 'https://x/{a,b}' x.org/y", ""},
		{"curl \"https://x/$Y\"", ""},
		{"wget FILE:///a/b", "read /a/b, write b"},
		{"lynx -dump a", "read a maybe"},
		{"w3m FILE:///a https://x", "read /a"},
		// git
		{"git grep --no-index x", "read . deep"},
		{"git grep --no-index x a", "read a deep"},
		{"git grep --no-index -e x a", "read a deep"},
		{"git grep -e x --no-index", "read . deep"},
		{"git grep --untracked x", "read . deep"},
		{"git grep x", ""},
		{"git diff --no-index . sub", "read . deep, read sub deep"},
		{"git diff", ""},
		{"git merge-file -p .env x x", "read .env, read x, read x"},
		{"git merge-file a b c", "read a, write a, read b, read c"},
		{"git interpret-trailers .env", "read .env"},
		{"git interpret-trailers --in-place --trailer x a", "read a, write a"},
		{"git fast-export --export-marks=a --all", "write a"},
		{"git fast-import --import-marks=b", "read b"},
		{"git checkout-index -f a", "write a"},
		{"git checkout-index -f -a", "write ., write ?"},
		{"git restore a", "write a deep"},
		{"git restore --staged a", ""},
		{"git restore -S a", ""},
		{"git restore -W -S a", "write a deep"},
		{"git restore --staged --worktree a", "write a deep"},
		{"git restore ':/a'", "write :/a?, write :/a deep"},
		{"git restore 'a*'", "write a*?, write a* deep"},
		{"git checkout ':(icase)A'", "write :(icase)A?, write :(icase)A deep maybe"},
		{"git checkout a", "write a deep maybe"},
		{"git checkout -- a", "write a deep"},
		{"git checkout HEAD~1 a", "write HEAD~1 deep maybe, write a deep"},
		{"git checkout -b new main", ""},
		{"git checkout --pathspec-from-file=l", "read l, write ?"},
		// names in files
		{"sort --files0-from=l", "read l, read ?"},
		{"wc --files0-from l", "read l, read ?"},
		{"du --files0-from=l", "read l"},
		{"tar cf - -T l", "read l, read ?"},
		{"tar -cf - --files-from=l", "read l, read ?"},
		{"rsync --files-from=l a b", "read l, read ?, read a deep, write b deep <a"},
		{"strings @l", "read l, read ?, write ?"},
		{"strings a", "read a"},
		{"gcc @l", "read l, read ?, write ?"},
		{"cpio -o", "read ?"},
		// others that read
		{"man -l .env", "read .env"},
		{"man ./a", "read ./a maybe"},
		{"man File::Spec", "read File::Spec maybe"},
		{"tic .env", "read .env"},
		{"nroff -man a", "read a"},
		{"history", ""},
		{"history 5", ""},
		{"history -r a", "read a"},
		{"history -n a", "read a"},
		{"history -w a", "write a"},
		{"history -a a", "write a"},
		{"history -c", ""},
		{"HISTFILE=.env; set -o history; history", "read .env, write .env"},
		{"export HISTFILE='.env'", "read .env, write .env"},
		{"HISTFILE=$X", "read $X?, write $X?"},
		{"HISTFILE=/dev/null", ""},
		// others that write
		{"ld -o a b.o", "write a, read b.o"},
		{"ld -oa b.o", "write a, read b.o"},
		{"gcc -oa b.c", "write a, read b.c"},
		{"gcc -O2 -Iinc b.c", "visit inc, read b.c"},
		{"objcopy a b", "read a, write a, write b"},
		{"ed -s a", "read a, write a"},
		{"ex -s a", "read a, write a"},
		{"vim -es a", "read a, write a"},
		// sqlite3
		{"sqlite3 a 'select 1'", "read a, write a"},
		{"sqlite3 :memory: '.output b'", "read :memory:, write :memory:, write b"},
		{"sqlite3 a '.once b' '.read c'", "read a, write a, write b, read c"},
		{"sqlite3 a '.backup main b'", "read a, write a, write b"},
		{"sqlite3 a '.save \"b\"'", "read a, write a, write b"},
		{"sqlite3 a '.import b t'", "read a, write a, read b t?, read b"},
		{"sqlite3 a '.open b'", "read a, write a, read b, write b"},
		{"sqlite3 -cmd '.log b' a", "read a, write a, write b"},
		{"sqlite3 a <<< '.output b'", "read a, write a, write b"},
		{"sqlite3 a \"select readfile('b')\"", "read a, write a, read ?, read b"},
		{"sqlite3 a \"attach 'b' as c\"", "read a, write a, read ?, read b, write ?, write b"},
		{"sqlite3 a .tables", "read a, write a"},
		{"sqlite3 a <<E\n.import --csv ../b t\nE", "read a, write a, read --csv ../b t?, read ../b"},
		{"echo \"select readfile('/b')\" | sqlite3 a", "read a, write a, read ?, read /b"},
		{"sqlite3 a \"attach\n'/b' as c\"", "read a, write a, read ?, read /b, write ?, write /b"},
		{"sqlite3 a \"vacuum into '/b'\"", "read a, write a, write ?, write /b"},
		{"sqlite3 a '.cd ..' '.read b'", "read a, write a, visit .., read b in .."},
		{"sqlite3 a '.load /b'", "read a, write a, read /b"},
		{"sqlite3 a '.ar -xf /b'", "read a, write a, read /b, write /b"},
		{"sqlite3 a \"select 'b'\"", "read a, write a"},
		// other clients of databases
		{"duckdb -c \"select * from '/b'\"", "read ?, read /b"},
		{"duckdb a \"copy t to '/b'\"", "read a, write a, read ?, read /b, write ?, write /b"},
		{"psql -c '\\copy t from /b'", "read /b maybe"},
		{"psql <<E\n\\i /b\n\\o c\nE", "read /b maybe, write c"},
		{"psql -c \"\\copy (select 1) to '/b'\"", "write /b"},
		{"psql -c \"select pg_read_file('/b')\"", "read /b maybe"},
		{"psql -c 'select 1'", ""},
		{"mysql -e \"load data local infile '/b' into table t\"", "read /b maybe"},
		{"mysql -e \"select 1 into outfile '/b'\"", "write /b"},
		{"mysql <<< 'source /b'", "read /b maybe"},
		{"mysql --tee=/b", "write /b"},
		// programs that name files
		{"awk 'BEGIN{while((getline l < \"/b\")>0) print l}'", "read /b maybe"},
		{"awk -v f=/b 'BEGIN{getline l < f}'", "read /b maybe"},
		{"awk 'BEGIN{ARGV[1]=\"/b\";ARGC=2}1'", "read /b maybe"},
		{"awk 'BEGIN{\"date\" | getline d}'", ""},
		{"yq -n 'load(\"/b\")'", "read /b"},
		{"socat - FILE:/b,create", "read /b, write /b"},
		{"socat - TCP:h:1", ""},
		// tools of developers
		{"docker run -v ~/.ssh:/s -e A=b x cat /etc/passwd", "visit ~/.ssh"},
		{"docker run -v $PWD:/s -v \"$(pwd)\":/t -v data:/u x", "visit $PWD?, visit $(pwd)?"},
		{"docker run --mount type=bind,src=/b,dst=/c x", "visit /b"},
		{"docker build -f /b ..", "read /b maybe, read .. maybe"},
		{"docker cp x:/a ~/b", "write ~/b"},
		{"docker cp ~/b x:/a", "read ~/b"},
		{"gh api -F a=@/b x", "read a=@/b maybe, read api maybe, read x maybe, read /b maybe"},
		{"eslint --rulesdir=/b src", "read /b maybe, read src maybe"},
		{"sqlite3 -init i a", "read i, read a, write a"},
	} {
		if diff := cmp.Diff(c.want, accesses(c.command)); diff != "" {
			t.Errorf("%s:\n%s", c.command, diff)
		}
	}
}

// TestShortened has options that are cut short, and others that are the
// beginning of one that takes a value.
func TestShortened(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"sort --o=a b", "write a, read b"},
		{"sort --o a b", "write a, read b, read a"},
		{"shuf --o=a b", "write a, read b"},
		{"iconv --o=a b", "write a, read b"},
		{"cp --t=a b", "read b, write a <b"},
		{"mv --t=a b", "read b deep, write b deep, write a deep <b"},
		{"install --t a b", "read b, write a <b, read a, write b <a"},
		{"install --d a", "write a"},
		{"sed --i s/o/p/ a", "read a, write a"},
		{"sed --e=p a", "read a"},
		{"cp --l a b", "read a, write a, write b <a"},
		{"rm --r a", "write a deep"},
		{"git restore --st --w a", "write a deep"},
		{"git restore --st a", ""},
		{"git reset --h", "write ., write ?"},
		{"date --f=a", "read a"},
		{"file --f=a", "read a"},
		{"xargs --a=a echo", "read a"},
		{"split --b 100 a q", "read a, write q, write ., write ?, read 100, write a"},
		{"sort -- --o=a", "read --o=a"},
		{"sort -", ""},
		// flags that are the beginning of another option
		{"rsync --partial a b", "read a deep, write b deep <a"},
		{"rsync --backup a b", "read a deep, write b deep <a"},
		{"rsync --rsync a b", "read b deep, read a deep, write b deep <a"},
		{"column --table a", "read a"},
		{"grep --binary x a", "read a"},
		{"grep --bin x a", "read a"},
		{"curl --head -o a https://x", "write a"},
		{"curl --netrc -o a https://x", "write a"},
		{"curl --crlf -o a https://x", "write a"},
		{"curl --proto =https -o a https://x", "write a"},
		{"rg --color never x a", "read a deep visible"},
		{"rg --ignore x a", "read a deep visible"},
		{"git blame --ignore-rev a b", "read b maybe"},
		// two of them
		{"uniq --skip-f 1 --skip-c 2 a b", "read a, write b, read 1, write a, read 2, write 2"},
	} {
		if diff := cmp.Diff(c.want, accesses(c.command)); diff != "" {
			t.Errorf("%s:\n%s", c.command, diff)
		}
	}
}
