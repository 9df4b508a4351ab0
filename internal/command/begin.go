package command

import (
	"context"
	"strings"
)

// begun asks about the known folder at the beginning of a word whose rest is not known: whatever
// /etc/$X is, it is not in the workspace, unless it climbs out again, which is no better.
func (f *accessFinder) begun(ctx context.Context, a Access) error {
	if a.Path.Literal || a.Maybe || a.Path.Guess {
		return nil
	}
	words := f.beginnings(a.Path)
	if f.words -= len(words); f.words < 0 {
		return nil
	}
	for _, w := range words {
		names, _ := f.named(w, a.Dir)
		for _, name := range names {
			if !f.once("begun", name) {
				continue
			}
			if err := f.visit(ctx, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// beginnings returns the folders that a word may begin with, as far as they are known.
func (f *accessFinder) beginnings(w Word) []Word {
	if strings.Contains(w.Shape, "/..") && strings.Contains(w.Shape, Unknown) && !strings.HasPrefix(w.Raw, "~") {
		return append(f.possibleFolders(w), folderOf("", strings.ReplaceAll(w.Shape, Unknown, "x"))) // however it is called, it climbs out of that
	}
	return f.possibleFolders(w)
}

func (f *accessFinder) possibleFolders(w Word) []Word {
	head, rest, computed := strings.Cut(w.Shape, Unknown)
	switch {
	case !computed:
		return nil
	case strings.Contains(head, "/"):
		return []Word{folderOf(w.Raw, head)}
	case head != "":
		return nil
	}
	if all := spreadFolders(w.Raw); all != nil {
		return all
	}
	rest, _, _ = strings.Cut(rest, Unknown)
	name, ok := leadingVariable(w.Value)
	if !ok || !strings.HasPrefix(rest, "/") {
		return nil
	}
	if from := f.variableFolder(name); from != "" {
		return []Word{folderOf("", from+rest)}
	}
	var all []Word
	for _, v := range f.constant(name) {
		if v.Literal {
			all = append(all, folderOf("", v.Value+rest))
		}
	}
	return all
}

// spreadFolders are the folders of a word that begins with a list in braces.
func spreadFolders(raw string) (all []Word) {
	end := strings.IndexAny(raw, "$`'\"\\()<>*?")
	if end < 0 || !strings.HasPrefix(raw, "{") {
		return nil
	}
	words, ok := braces(raw[:strings.LastIndexByte(raw[:end], '/')+1])
	if !ok {
		return nil
	}
	for _, w := range words {
		all = append(all, folderOf(w.Raw, w.Value))
	}
	return all
}

// folderOf is the folder in a beginning of a word that is written as raw.
func folderOf(raw, head string) Word {
	head = head[:strings.LastIndexByte(head, '/')+1]
	w := Word{Raw: "'" + head, Value: head, Literal: true}
	if strings.HasPrefix(raw, "~") {
		w.Raw = head
	}
	return w
}

// leadingVariable is the variable that a word begins with before a slash.
func leadingVariable(value string) (name string, ok bool) {
	name, _, ok = strings.Cut(value, "/")
	name, dollar := strings.CutPrefix(name, "$")
	if braced, found := strings.CutPrefix(name, "{"); found {
		if name, found = strings.CutSuffix(braced, "}"); !found {
			return "", false
		}
	}
	return name, ok && dollar && name != "" && strings.Trim(name, nameLetters) == ""
}

// constant are all values that a variable can have, if the text says them.
func (f *accessFinder) constant(name string) []Word {
	if f.nested || f.line.Opaque != "" {
		return nil // a shell of its own has variables of its own
	}
	if !f.read {
		f.read, f.constants = true, f.line.Constants()
	}
	return f.constants[name]
}
