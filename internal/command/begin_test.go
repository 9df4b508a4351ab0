package command_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A name that surely begins outside is asked about as one in that folder is.
func TestBeginnings(t *testing.T) {
	s := newStage(t, "a.go")
	if err := os.Symlink("../out", s.base+"/ws/link"); err != nil {
		t.Fatal(err)
	}
	read, write, visit := " ? read ? external_directory", " ? edit ? external_directory", " ? external_directory"
	for _, c := range []struct{ command, outside, uncertainties string }{
		{"head -1 BASE/out/$(echo x)", "/out/*", read},
		{"head -1 BASE/out/x$X", "/out/*", read},
		{"head -1 \"BASE/out/$X\"", "/out/*", read},
		{"head -1 BASE/out/a/`echo x`", "/out/a/*", read},
		{"head -1 BASE/out/*/$X", "/out/*", read},
		{"echo x >> BASE/out/$(echo pwn)", "/out/*", write},
		{"ls BASE/out/$X", "/out/*", visit},
		{"cd BASE/out/$X", "/out/*", visit},
		{"cat ~/x$X", "/home/u/*", read},
		{"cat $HOME/a/$X", "/home/u/a/*", read},
		{"cat \"${HOME}\"/$(echo x)", "/home/u/*", read},
		{"cat ../out/$X", "/out/*", read},
		{"cat sub/../../out/$X", "/out/*", read},
		{"cat link/$X", "/out/*", read},
		{"D=BASE/out; cat $D/$X", "/out/*", read},
		{"cat {BASE/out,BASE/home}/$X", "/out/*", read},
		{"dd if=BASE/out/$X", "/out/*", read},
		{"sort -o \"BASE/out/$X\" a.go", "/out/*", write},
		{"sh -c 'cat BASE/out/$1'", "/out/*", read},
		{"find . -exec cat BASE/out/{} \\;", "/out/*", read},
		// of these nothing is known that leads outside
		{"cat $X/file", "", read},
		{"cat $X", "", read},
		{"cat sub/$X", "", read},
		{"cat ./$X.go", "", read},
		{"cat $PWD/$X", "", read},
		{"cat '~/'$X", "", read},
		{"cat x$X", "", read},
	} {
		var outside, uncertainties string
		for _, line := range s.listing(t, strings.ReplaceAll(c.command, "BASE", s.base)) {
			if rest, ok := strings.CutPrefix(line, "external_directory "); ok && outside == "" {
				outside = rest
			}
			if at := strings.Index(line, " ? "); at >= 0 && strings.HasPrefix(line, "bash ") {
				uncertainties += line[at:]
			}
		}
		if diff := cmp.Diff([]string{c.outside, c.uncertainties}, []string{outside, uncertainties}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.command, diff)
		}
	}
}
