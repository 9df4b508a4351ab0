package main

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Times of the recording, in milliseconds. Only these are made up; what is seen
// is what the screen showed.
const (
	typing   = 34  // for a character
	between  = 140 // for a picture between a command and its end
	thinking = 450 // from the last character to the key that sends it
)

// A scene is something that a person does at the terminal.
type scene struct {
	types string // what is typed, and sent with Enter
	until string // what then stands before the cursor; a prompt when empty
	hold  int    // how long the end is shown
	clear bool   // the screen is wiped first, with Ctrl-L
	still bool   // its end is what a picture that does not move shows
}

// A player is a recording in the making.
type player struct {
	stage  *stage
	frames []frame
	still  int
}

// play does what the scenes say, and takes a picture of everything that the
// screen shows in between.
func (p *player) play(scenes []scene) error {
	if err := p.wait(scene{}); err != nil {
		return err
	}
	for _, sc := range scenes {
		if err := p.act(sc); err != nil {
			return fmt.Errorf("%s: %w", sc.types, err)
		}
	}
	return nil
}

func (p *player) act(sc scene) error {
	if sc.clear {
		if err := p.stage.presses("C-l"); err != nil {
			return err
		}
		if err := p.changes(thinking); err != nil {
			return err
		}
	}
	for i, r := range sc.types {
		if err := p.stage.types(string(r)); err != nil {
			return err
		}
		if err := p.shows(sc.types[:i+len(string(r))]); err != nil {
			return err
		}
	}
	p.linger(thinking)
	if err := p.stage.presses("Enter"); err != nil {
		return err
	}
	if err := p.changes(between); err != nil {
		return err
	}
	if err := p.wait(sc); err != nil {
		return err
	}
	p.linger(sc.hold)
	if sc.still {
		p.still = len(p.frames) - 1
	}
	return nil
}

// take adds a picture, unless it is the one before.
func (p *player) take(rows []line, hold int) bool {
	if n := len(p.frames); n > 0 && reflect.DeepEqual(p.frames[n-1].rows, rows) {
		return false
	}
	p.frames = append(p.frames, frame{rows: rows, hold: hold})
	return true
}

// linger shows the last picture for longer.
func (p *player) linger(ms int) {
	if n := len(p.frames); n > 0 {
		p.frames[n-1].hold += ms
	}
}

// changes waits for the screen to show something else.
func (p *player) changes(hold int) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		rows, _, err := p.stage.sees()
		if err != nil {
			return err
		}
		if p.take(rows, hold) {
			return nil
		}
	}
	return errNothing
}

// shows waits for the screen to end with what was typed, on one row or several.
func (p *player) shows(typed string) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		rows, plain, err := p.stage.sees()
		if err != nil {
			return err
		}
		if strings.HasSuffix(strings.ReplaceAll(plain, "\n", ""), strings.TrimRight(typed, " ")) {
			p.take(rows, typing)
			return nil
		}
	}
	return errNothing
}

// wait takes pictures until a command has ended, or asks something.
func (p *player) wait(sc scene) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(40 * time.Millisecond) {
		rows, plain, err := p.stage.sees()
		if err != nil {
			return err
		}
		p.take(rows, between)
		last := plain[strings.LastIndex(plain, "\n")+1:]
		if sc.until == "" && strings.TrimRight(last, " ") == "$" || sc.until != "" && strings.Contains(last, sc.until) {
			return nil
		}
	}
	return errNothing
}
