package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/modeltest"
)

func TestMain(m *testing.M) {
	modeltest.Child()
	os.Exit(m.Run())
}

// What is typed at a real terminal, and what comes of it, is in the pictures.
func TestPlay(t *testing.T) {
	for _, need := range []string{"tmux", "bash", "unshare"} {
		if _, err := exec.LookPath(need); err != nil || runtime.GOOS != "linux" {
			t.Skipf("there is no %s", need)
		}
	}
	program := filepath.Join(t.TempDir(), "helve")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nprintf '\\033[31mhello\\033[0m %s\\n' \"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := raise(t.Context(), program, `{"scripts":[]}`, map[string]string{"name": "Ada\n"})
	if err != nil {
		t.Skipf("a terminal can not be had here: %v", err)
	}
	defer s.strike()
	p := &player{stage: s}
	err = p.play([]scene{
		{types: "cat ~/name", hold: 100},
		{types: "helve you", hold: 700, still: true},
		{types: "pwd", clear: true, hold: 100},
	})
	if err != nil {
		t.Fatal(err)
	}
	text := func(f frame) (all string) {
		for _, l := range f.rows {
			for _, r := range l {
				all += strings.Repeat(" ", max(0, r.col-len([]rune(all[strings.LastIndex(all, "\n")+1:])))) + r.text
			}
			all = strings.TrimRight(all, " \n") + "\n"
		}
		return strings.TrimSpace(all)
	}
	if got, want := text(p.frames[p.still]), "$ cat ~/name\nAda\n$ helve you\nhello you\n$"; got != want {
		t.Errorf("the still shows:\n%s\nand not:\n%s", got, want)
	}
	if got, want := text(p.frames[len(p.frames)-1]), "$ pwd\n/home/ada/shop\n$"; got != want {
		t.Errorf("the last frame shows:\n%s\nand not:\n%s", got, want)
	}
	if p.frames[p.still].hold < 700 {
		t.Errorf("the still is held for %d ms", p.frames[p.still].hold)
	}
	red := false
	for _, r := range p.frames[p.still].rows[3] {
		red = red || r.text == "hello" && r.style.fg == "1"
	}
	if !red {
		t.Errorf("the colour is lost: %+v", p.frames[p.still].rows[3])
	}
	typed := 0
	for _, f := range p.frames {
		if strings.HasSuffix(text(f), "$ hel") {
			typed++
		}
	}
	if typed != 1 {
		t.Errorf("the third letter is seen %d times", typed)
	}
}
