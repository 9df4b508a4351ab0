package lspclient

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMemory(t *testing.T) {
	before := rss(os.Getpid())
	if before < 1<<20 {
		t.Fatalf("this program holds %d bytes", before)
	}
	block := make([]byte, 64<<20)
	for i := 0; i < len(block); i += 1024 {
		block[i] = 1
	}
	if after := rss(os.Getpid()); after-before < 32<<20 {
		t.Errorf("%d bytes, and after 64 MiB more %d", before, after)
	}
	if once, twice := rss(os.Getpid()), rss(os.Getpid(), os.Getpid()); twice > once*3/2 {
		t.Errorf("a process that is named twice counts twice: %d and %d", once, twice)
	}
	block[0]++
	for _, pid := range []int{0, -1, 1 << 30} {
		if n := rss(pid); n != 0 {
			t.Errorf("process %d holds %d bytes", pid, n)
		}
	}
}

// A grandchild is found, by the list of children and by the table alike.
func TestMemoryDescendants(t *testing.T) {
	cmd := exec.Command("sh", "-c", "cat <&3 & wait; :")
	r, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.ExtraFiles = []*os.File{r}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	r.Close()
	if err != nil {
		in.Close()
		t.Skip("no shell:", err)
	}
	defer func() {
		in.Close() // cat reads the end, and so both end
		_ = cmd.Wait()
	}()
	if _, err := in.WriteString("x"); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // now cat runs
		t.Fatal(err)
	}
	shell := cmd.Process.Pid
	table := parents()
	if list := table[shell]; len(list) != 1 || !slices.Contains(table[os.Getpid()], shell) {
		t.Fatalf("the children of the shell: %v, of this: %v", list, table[os.Getpid()])
	}
	cat := table[shell][0]
	if direct, ok := children(shell); ok && !slices.Equal(direct, []int{cat}) {
		t.Errorf("children: %v, and %d", direct, cat)
	}
	if d := cmp.Diff(map[int]bool{shell: true, cat: true}, descendants([]int{shell})); d != "" {
		t.Error(d)
	}
	own1, shared1 := held(shell)
	own2, shared2 := held(cat)
	if shared1 == 0 || shared2 == 0 {
		t.Skip("the system does not say what is shared")
	}
	if got, want := rss(shell), (own1+own2+max(shared1, shared2))*int64(os.Getpagesize()); got != want {
		t.Errorf("%d bytes, and not %d", got, want)
	}
	if got := rss(cat, shell); got != rss(shell) {
		t.Errorf("%d bytes when both are named", got)
	}
}
