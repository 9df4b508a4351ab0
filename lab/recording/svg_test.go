package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A shot is a film of a few frames, in which rows come, stay, change and go.
func shot() film {
	of := func(hold int, text string) frame { return frame{rows: screenOf(text, -1, 0), hold: hold} }
	return film{cols: 20, rows: 3, title: `a "title" & more`, caption: "a <caption>", frames: []frame{
		of(100, "$ \n\n"),
		of(200, "$ ls\n\n"),
		of(300, "$ ls\n\x1b[32ma  b\x1b[0m <&>\n$"),
		of(50, "$ ls\n\n"),
		of(400, "\x1b[1mend\n\n\n"),
	}}
}

// seen is what somebody sees of a picture at a time: by place, the text. It knows
// just as much of SVG as the pictures use.
func seen(t *testing.T, picture string, at float64) map[string]string {
	t.Helper()
	steps := map[string][][2]string{}
	for _, m := range regexp.MustCompile(`@keyframes (\w+)\{((?:[^{}]+\{[^{}]+\})+)\}`).FindAllStringSubmatch(picture, -1) {
		for _, k := range regexp.MustCompile(`([^{}]+)\{visibility:(\w+)\}`).FindAllStringSubmatch(m[2], -1) {
			steps[m[1]] = append(steps[m[1]], [2]string{k[1], k[2]})
		}
	}
	shown := func(class string) bool {
		words := strings.Fields(class)
		if len(words) < 2 || words[0] != "f" {
			return true
		}
		now := "hidden"
		for _, s := range steps[words[1]] {
			percent, err := strconv.ParseFloat(strings.TrimSuffix(s[0], "%"), 64)
			if s[0] == "to" {
				percent, err = 100, nil
			}
			if err != nil {
				t.Fatal(err)
			}
			if percent <= at {
				now = s[1]
			}
		}
		return now == "visible"
	}
	texts := map[string]string{}
	d := xml.NewDecoder(strings.NewReader(picture))
	var hidden []bool
	place := ""
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := tok.(type) {
		case xml.StartElement:
			attr := map[string]string{}
			for _, a := range e.Attr {
				attr[a.Name.Local] = a.Value
			}
			hide := len(hidden) > 0 && hidden[len(hidden)-1] || e.Name.Local == "g" && !shown(attr["class"])
			hidden = append(hidden, hide)
			place = ""
			if e.Name.Local == "text" && attr["class"] != "caption" {
				place = attr["y"] + " " + attr["x"]
			}
			if e.Name.Local == "script" || attr["href"] != "" {
				t.Errorf("there is a %s in the picture", e.Name.Local)
			}
		case xml.EndElement:
			hidden = hidden[:len(hidden)-1]
			place = ""
		case xml.CharData:
			if place != "" && !hidden[len(hidden)-1] {
				texts[place] += string(e)
			}
		}
	}
}

// wanted is what a frame shows, by the places of its texts.
func wanted(f frame) map[string]string {
	texts := map[string]string{}
	for row, l := range f.rows {
		for _, r := range l {
			text := strings.TrimRight(r.text, " ")
			lead := len(text) - len(strings.TrimLeft(text, " "))
			texts[fmt.Sprintf("%d %s", bar+row*cellHeight+13, number(margin+float64(r.col+lead)*cellWidth))] = text[lead:]
		}
	}
	return texts
}

// At every time, what is seen is the frame of that time.
func TestAnimated(t *testing.T) {
	f := shot()
	picture, err := f.animated(2)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, fr := range f.frames {
		total += fr.hold
	}
	start := 0
	for i, fr := range f.frames {
		for _, at := range []int{start + 1, start + fr.hold/2, start + fr.hold - 1} {
			got, want := seen(t, picture, float64(at)*100/float64(total)), wanted(fr)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("frame %d, at %d ms: %v is seen, and not %v", i, at, got, want)
			}
		}
		start += fr.hold
	}
	for _, want := range []string{"animation-duration:1050ms", "animation-iteration-count:infinite", "step-end", "prefers-color-scheme:dark",
		"prefers-reduced-motion:reduce", "a &lt;caption&gt;", `aria-label="a &#34;title&#34; &amp; more"`} {
		if !strings.Contains(picture, want) {
			t.Errorf("the picture has no %s", want)
		}
	}
	// Without motion it shows frame 2: what is marked is just that.
	marked := regexp.MustCompile(`class="f k\d+ s"`).FindAllString(picture, -1)
	if len(marked) != 2 { // the first row stays from frame 1 to 3; the two others are there together
		t.Errorf("%d groups are kept without motion", len(marked))
	}
}

func TestStill(t *testing.T) {
	f := shot()
	for i, fr := range f.frames {
		picture, err := f.still(i)
		if err != nil {
			t.Fatal(err)
		}
		if got := seen(t, picture, 0); fmt.Sprint(got) != fmt.Sprint(wanted(fr)) {
			t.Errorf("frame %d shows %v", i, got)
		}
		if strings.Contains(picture, "keyframes") {
			t.Error("it moves")
		}
	}
}

// A row that does not change is drawn once, however many frames there are.
func TestRowsAreShared(t *testing.T) {
	f := film{cols: 80, rows: 20}
	for i := range 500 {
		f.frames = append(f.frames, frame{hold: 20, rows: screenOf(strings.Repeat("the same\n", 19)+strconv.Itoa(i), -1, 0)})
	}
	picture, err := f.animated(0)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(picture, "the same"); n != 19 {
		t.Errorf("the rows are drawn %d times", n)
	}
}

func TestNothingToShow(t *testing.T) {
	if _, err := (film{rows: 1}).animated(0); !errors.Is(err, errEmpty) {
		t.Error(err)
	}
	if _, err := shot().animated(5); !errors.Is(err, errEmpty) {
		t.Error(err)
	}
	if _, err := shot().still(-1); !errors.Is(err, errEmpty) {
		t.Error(err)
	}
	if _, err := (film{rows: 1, frames: []frame{{}}}).animated(0); !errors.Is(err, errEmpty) {
		t.Error(err)
	}
}
