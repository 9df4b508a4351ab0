package scripthost

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// tempChild names the variable that makes the test below a process with a
// folder for scripts.
const tempChild = "WORLD_TEST_TEMP_CHILD"

// TestTempChild is that process: it makes a folder, says which, and waits.
func TestTempChild(t *testing.T) {
	if os.Getenv(tempChild) == "" {
		t.Skip("this is what TestTempKilled starts")
	}
	var own temporary
	dir, err := own.folder()
	if err != nil {
		t.Fatal(err)
	}
	deep := filepath.Join(dir, "of", "a", "script")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(deep, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fmt.Println("folder:", dir)
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is told to end, or killed
	if err := own.remove(); err != nil {
		t.Fatal(err)
	}
}

// A tempOwner is a process that has a folder for scripts.
type tempOwner struct {
	cmd  *exec.Cmd
	in   io.Closer
	path string
}

func startTempOwner(t *testing.T) *tempOwner {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestTempChild$")
	cmd.Env = append(os.Environ(), tempChild+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	o := &tempOwner{cmd: cmd, in: in}
	t.Cleanup(o.kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	path, ok := strings.CutPrefix(strings.TrimSpace(line), "folder: ")
	if !ok {
		t.Fatalf("the process said %q: %v", line, err)
	}
	o.path = path
	return o
}

// kill ends the process without a chance to tidy up.
func (o *tempOwner) kill() {
	_ = o.cmd.Process.Kill() // it may have ended
	_ = o.cmd.Wait()         // it was killed
}

// end lets the process tidy up.
func (o *tempOwner) end(t *testing.T) {
	t.Helper()
	_ = o.in.Close()
	if err := o.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// ownTempDir gives this process, and those it starts, a folder for temporary
// files that nobody else uses.
func ownTempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, dir)
	}
	return dir
}

// sweepByNext makes a folder for scripts, which sweeps, and removes it.
func sweepByNext(t *testing.T) {
	t.Helper()
	var next temporary
	path, err := next.folder()
	if err != nil {
		t.Fatal(err)
	}
	next.sweeping.Wait()
	if _, err := os.Stat(path); err != nil {
		t.Errorf("what sweeps removes what is its own: %v", err)
	}
	if err := next.remove(); err != nil {
		t.Error(err)
	}
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// names are what a folder holds.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// What a process leaves that was killed is removed by the next that makes such
// a folder; what others live in is not.
func TestTempKilled(t *testing.T) {
	dir := ownTempDir(t)
	dead, alive := startTempOwner(t), startTempOwner(t)
	sweepByNext(t)
	if !there(filepath.Join(dead.path, "of", "a", "script", "file")) {
		t.Fatal("the folder of a process that lives was swept")
	}
	dead.kill()
	if !there(dead.path) {
		t.Fatal("a killed process has removed its folder: this tests nothing")
	}
	sweepByNext(t)
	if there(filepath.Dir(dead.path)) {
		t.Error("the folder of a killed process is still there")
	}
	if !there(filepath.Join(alive.path, "of", "a", "script", "file")) {
		t.Error("the folder of a process that lives was swept")
	}
	alive.end(t)
	if left := names(t, dir); len(left) != 0 {
		t.Errorf("there is left %q", left)
	}
}

// Only real folders of our making are swept, and nothing that links lead to.
func TestTempSweepLeaves(t *testing.T) {
	dir := ownTempDir(t)
	outside := t.TempDir()
	file := func(parts ...string) string {
		path := filepath.Join(parts...)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := func(to, path string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, path); err != nil {
			if runtime.GOOS == "windows" {
				t.Skip("links can not be made here: ", err)
			}
			t.Fatal(err)
		}
	}
	stay := []string{
		file(outside, tempInner, "kept"), file(outside, tempLock),
		file(dir, "helve-script-mine", tempLock),          // another name
		file(dir, "helve-script-", tempLock),              // no number
		file(dir, "helve-script-12x", tempLock),           // not only a number
		file(dir, "helve-script-1"),                       // a file
		file(dir, "helve-script-2", tempInner, "unowned"), // without a lock
		file(dir, "helve-script-3", tempLock, "odd"),      // whose lock is a folder
	}
	link(outside, filepath.Join(dir, "helve-script-4"))
	file(dir, "helve-script-5", "more") // the lock of it is a link
	link(filepath.Join(outside, tempLock), filepath.Join(dir, "helve-script-5", tempLock))
	file(dir, "helve-script-6", tempLock) // what is in it leads out
	link(outside, filepath.Join(dir, "helve-script-6", tempInner, "out"))
	file(dir, "helve-script-7", tempLock) // is itself a way out
	link(outside, filepath.Join(dir, "helve-script-7", tempInner))
	file(dir, "helve-script-8", tempLock) // and more than we put there
	stay = append(stay, file(dir, "helve-script-8", "more"))
	if err := os.Mkdir(filepath.Join(dir, "helve-script-9"), 0o700); err != nil { // half made
		t.Fatal(err)
	}
	sweepByNext(t)
	stay = append(stay, filepath.Join(dir, "helve-script-4"), filepath.Join(dir, "helve-script-5", tempLock))
	for _, path := range stay {
		if !there(path) {
			t.Errorf("%s is gone", path)
		}
	}
	for _, name := range []string{"helve-script-6", "helve-script-7", "helve-script-9"} {
		if there(filepath.Join(dir, name)) {
			t.Errorf("%s is still there", name)
		}
	}
}

// The folder of another user is left, whatever its name and its lock.
func TestTempSweepOthers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	dir := ownTempDir(t)
	path := filepath.Join(dir, "helve-script-1")
	if err := os.Mkdir(path, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, tempLock), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	sweepByNext(t)
	if !there(path) {
		t.Error("the folder of another user is gone")
	}
}

// A sweep ends somewhere, however much was left; the next ones go on.
func TestTempSweepBounds(t *testing.T) {
	dir := ownTempDir(t)
	const many = sweepFolders + 20
	for i := range many {
		path := filepath.Join(dir, fmt.Sprint(tempPrefix, i))
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, tempLock), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	removeStale(dir)
	if left := len(names(t, dir)); left != many-sweepFolders {
		t.Errorf("after one sweep %d are left", left)
	}
	removeStale(dir)
	if left := names(t, dir); len(left) != 0 {
		t.Errorf("after two sweeps there is left %q", left)
	}
}

// Engines that come and go at the same time do not sweep what is being made.
func TestTempAtOnce(t *testing.T) {
	dir := ownTempDir(t)
	ends := make(chan error)
	const hands = 8
	for range hands {
		go func() {
			for range 25 {
				var own temporary
				path, err := own.folder()
				if err == nil {
					err = os.WriteFile(filepath.Join(path, "x"), nil, 0o600)
				}
				if err == nil {
					err = own.remove()
				}
				if err != nil {
					ends <- err
					return
				}
			}
			ends <- nil
		}()
	}
	for range hands {
		if err := <-ends; err != nil {
			t.Error(err)
		}
	}
	if left := names(t, dir); len(left) != 0 {
		t.Errorf("there is left %q", left)
	}
}

// Scripts do not reach the lock of their folder by the right they have in it.
func TestTempLockApart(t *testing.T) {
	ownTempDir(t)
	var own temporary
	path, err := own.folder()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = own.remove() }() // the test is over
	if !own.contains(filepath.Join(path, "x")) || own.contains(own.lock.Path()) || own.contains(own.around) {
		t.Errorf("%s is theirs, %s is not", path, own.lock.Path())
	}
}
