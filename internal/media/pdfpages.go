package media

import (
	"maps"
	"slices"
)

// A sheet is a page as the tree of pages tells it.
type sheet struct {
	at        any // a reference to the page, or the page itself
	resources any // of the page, or inherited
}

// A branch is a node of the tree of pages on the way.
type branch struct {
	kids      array
	resources any
}

// walkPages lists the pages in order. No node is entered twice, so a tree that
// bites its tail ends like any other.
func (d *Document) walkPages() error {
	d.pages = nil
	root := d.dict(d.dict(d.trailer["Root"])["Pages"])
	if root == nil {
		return d.src.err
	}
	seen := map[int]bool{}
	stack := []branch{{kids: array{root}}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.kids) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		kid := top.kids[0]
		top.kids = top.kids[1:]
		if r, ok := kid.(ref); ok {
			if seen[r.num] {
				continue
			}
			seen[r.num] = true
		}
		node := d.dict(kid)
		if d.src.spent() {
			return d.src.err
		}
		if node == nil {
			continue
		}
		resources := top.resources
		if own, ok := node["Resources"]; ok {
			resources = own
		}
		kids, isPage := d.kind(node)
		switch {
		case kids != nil && len(stack) <= maxDepth:
			stack = append(stack, branch{kids, resources})
		case isPage && len(d.pages) >= maxPages:
			return errPages
		case isPage:
			d.pages = append(d.pages, sheet{kid, resources})
		}
	}
	return nil
}

// kind tells a branch, by its kids, from a page, from anything else.
func (d *Document) kind(node dict) (kids array, isPage bool) {
	kind := d.name(node["Type"])
	if kids = d.arrayOf(node["Kids"]); kids != nil && kind != "Page" {
		return kids, false
	}
	return nil, kind == "Page" || kind == "" || node["Contents"] != nil
}

// loosePages lists the pages that no tree leads to any more, by their numbers.
func (d *Document) loosePages() error {
	for _, num := range slices.Sorted(maps.Keys(d.xref)) {
		node := d.dict(ref{num: num})
		if d.src.spent() {
			return d.src.err
		}
		if d.name(node["Type"]) != "Page" || len(d.pages) >= maxPages {
			continue
		}
		var resources any
		for up, n := node, 0; up != nil && resources == nil && n < maxDepth; n++ {
			resources = up["Resources"]
			up = d.dict(up["Parent"])
		}
		d.pages = append(d.pages, sheet{ref{num: num}, resources})
	}
	d.loose = len(d.pages) > 0
	return nil
}
