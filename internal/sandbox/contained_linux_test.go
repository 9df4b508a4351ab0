//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// contain plays a runtime inside a container of a kind: it restricts this
// process as such a container would, proves a profile and prints the state.
func contain(kind, profile string) int {
	var err error
	switch kind {
	case "masked-proc":
		// As container engines do, so that no new /proc may be mounted.
		err = unix.Mount("none", "/proc/fs", "tmpfs", unix.MS_RDONLY, "")
	case "no-namespaces":
		err = os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0)
	}
	p, err2 := Decode(profile)
	if err != nil || err2 != nil {
		fmt.Fprintln(os.Stderr, err, err2)
		return 2
	}
	_, state, err := Prove(context.Background(), self(), p)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if json.NewEncoder(os.Stdout).Encode(state) != nil || err != nil {
		return 1
	}
	return 0
}

// inContainer proves a profile in a container of a kind.
func inContainer(t *testing.T, kind string, p Profile) (State, error) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "contained", kind, p.Encode())
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	// Root of a user namespace, as in an unprivileged container.
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	err := cmd.Run()
	var state State
	if e := json.Unmarshal(out.Bytes(), &state); e != nil {
		t.Fatalf("%v: %v: %s", e, err, complaint.String())
	}
	return state, err
}

// Where /proc is partly covered the old one stays, and all holds but that
// processes outside can be seen.
func TestMaskedProc(t *testing.T) {
	needsNamespaces(t)
	w := newWorld(t, places(t)["disk"])
	state, err := inContainer(t, "masked-proc", w.profile(Strict))
	if err != nil || state.Kind != "namespaces" {
		t.Fatalf("%v, %+v", err, state)
	}
	var names []string
	for _, p := range state.Broken() {
		names = append(names, p.Name)
	}
	if !slices.Equal(names, []string{"process-list"}) {
		t.Errorf("broken: %+v", state.Broken())
	}
}

// Where namespaces are forbidden the reason is found, and the rest of the
// wall is used only if the profile allows it.
func TestNoNamespaces(t *testing.T) {
	needsNamespaces(t)
	w := newWorld(t, places(t)["disk"])
	p := w.profile(Write)
	state, err := inContainer(t, "no-namespaces", p)
	if err == nil || state.Kind != "" || !strings.Contains(state.Reason, "max_user_namespaces") {
		t.Errorf("%v, %+v", err, state)
	}
	p.Fallback = true
	state, err = inContainer(t, "no-namespaces", p)
	if err != nil || state.Kind != "landlock" || !strings.Contains(state.Reason, "max_user_namespaces") || state.Complete() {
		t.Errorf("%v, %+v", err, state)
	}
}

// In an unprivileged container that allows them, the whole sandbox stands.
func TestNested(t *testing.T) {
	needsNamespaces(t)
	w := newWorld(t, places(t)["disk"])
	for _, level := range []Level{Write, Strict} {
		if state, err := inContainer(t, "plain", w.profile(level)); err != nil || !state.Complete() || state.Kind != "namespaces" {
			t.Errorf("%v, %+v", err, state.Broken())
		}
	}
}
