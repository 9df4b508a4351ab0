package tooltest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/leaktest"
)

// Main runs the tests of a package and fails if they leave something behind: a goroutine, an open
// file, or a child process. Call it from TestMain. It checks files and children on systems that
// have /proc. The test program can also be the helper of commands, in [helve.Shell.Helper].
func Main(m *testing.M) {
	helve.RunHelper()
	os.Exit(Leaks(m.Run))
}

// Leaks runs tests and returns their exit code, or 1 if they leave something behind.
func Leaks(run func() int) int {
	files := openFiles()
	code := run()
	if code != 0 {
		return code
	}
	if err := leaktest.Find(); err != nil {
		fmt.Fprintln(os.Stderr, "goroutines are left:", err)
		code = 1
	}
	if left := pollUntilStable(func() []string { return missingFrom(files, openFiles()) }); len(left) > 0 {
		fmt.Fprintln(os.Stderr, "open files are left:", strings.Join(left, ", "))
		code = 1
	}
	if left := pollUntilStable(children); len(left) > 0 {
		fmt.Fprintln(os.Stderr, "child processes are left:", strings.Join(left, ", "))
		code = 1
	}
	return code
}

// pollUntilStable repeats look for a while before it reports what is left.
func pollUntilStable(look func() []string) []string {
	left := look()
	for range 50 {
		if len(left) == 0 {
			break
		}
		<-time.After(20 * time.Millisecond)
		left = look()
	}
	return left
}

// openFiles returns the files that this process has open, by descriptor.
func openFiles() map[string]string {
	files := map[string]string{}
	fds, _ := filepath.Glob("/proc/self/fd/*")
	for _, fd := range fds {
		to, err := os.Readlink(fd)
		if err == nil && !strings.HasPrefix(to, "anon_inode:") && !strings.HasPrefix(to, "/dev/") {
			files[fd] = to
		}
	}
	return files
}

func missingFrom(before, after map[string]string) (names []string) {
	for fd, to := range after {
		if before[fd] != to {
			names = append(names, to)
		}
	}
	return names
}

// children returns the command names of this process's children.
func children() (names []string) {
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, list := range lists {
		pids, _ := os.ReadFile(list)
		for pid := range strings.FieldsSeq(string(pids)) {
			name, _ := os.ReadFile("/proc/" + pid + "/comm")
			names = append(names, pid+" "+strings.TrimSpace(string(name)))
		}
	}
	return names
}
