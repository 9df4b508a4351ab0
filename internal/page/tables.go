package page

import "golang.org/x/net/html/atom"

// A trait is what the rules of the tree need to know about a tag.
type trait uint32

const (
	void     trait = 1 << iota // has no content and no end tag
	special                    // ends the search for the start of an inline element
	block                      // closes an open paragraph
	inline                     // formatting, which may be closed out of turn
	fence                      // what is inside can not close what is outside
	heading                    // h1 to h6
	headPart                   // may stand in the head
	breakout                   // ends a drawing or a formula it stands in
	tabular                    // a part of a table
	verbatim                   // its content is not markup
	entities                   // verbatim, but character references count
	firm                       // what is inside can not close a list item outside
	button                     // what is inside can not close a paragraph outside
	list                       // what is inside can not close an item by its end tag
	term                       // dt or dd, which close each other
	walls                      // a table or a template: parts of tables are looked for inside
	row                        // a row of a table
	rows                       // a group of rows
	cols                       // a group of columns
)

// traitsOf returns what is known about a tag, 0 for one that is as any other.
func traitsOf(tag atom.Atom) trait {
	switch tag {
	case 0:
		return 0
	case atom.P, atom.Div:
		return special | block | breakout
	case atom.Li, atom.Blockquote, atom.Center, atom.Menu, atom.Pre, atom.Listing, atom.Dl:
		return special | firm | block | breakout
	case atom.Ul, atom.Ol:
		return special | firm | block | breakout | list
	case atom.Dd, atom.Dt:
		return special | firm | block | breakout | term
	case atom.Address:
		return special | block
	case atom.Article, atom.Aside, atom.Details, atom.Dialog, atom.Dir, atom.Fieldset, atom.Figcaption, atom.Figure,
		atom.Footer, atom.Form, atom.Header, atom.Hgroup, atom.Main, atom.Nav, atom.Section, atom.Summary:
		return special | firm | block
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return special | firm | block | breakout | heading
	case atom.B, atom.Big, atom.Code, atom.Em, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike, atom.Strong, atom.Tt, atom.U:
		return inline | breakout
	case atom.A, atom.Font:
		return inline
	case atom.Span, atom.Sub, atom.Sup, atom.Ruby, atom.Var:
		return breakout
	case atom.Br, atom.Img, atom.Embed:
		return void | breakout
	case atom.Hr:
		return void | block | breakout
	case atom.Meta:
		return void | headPart | breakout
	case atom.Base, atom.Link, atom.Basefont, atom.Bgsound:
		return void | headPart
	case atom.Area, atom.Wbr, atom.Input, atom.Keygen, atom.Param, atom.Source, atom.Track, atom.Frame:
		return void
	case atom.Script, atom.Style:
		return special | firm | headPart | verbatim
	case atom.Title:
		return special | firm | headPart | verbatim | entities
	case atom.Textarea:
		return special | firm | verbatim | entities
	case atom.Iframe:
		return special | firm | verbatim
	case atom.Xmp, atom.Plaintext:
		return special | firm | block | verbatim
	case atom.Template:
		return special | firm | headPart | fence | walls
	case atom.Applet, atom.Marquee, atom.Object, atom.Html:
		return special | firm | fence
	case atom.Noscript:
		return special | firm | headPart
	case atom.Head, atom.Body:
		return special | firm | breakout
	case atom.Button:
		return special | firm | button
	case atom.Noembed, atom.Noframes, atom.Select, atom.Frameset:
		return special | firm
	case atom.Table:
		return special | firm | block | breakout | fence | tabular | walls
	case atom.Td, atom.Th, atom.Caption:
		return special | firm | fence | tabular
	case atom.Tr:
		return special | firm | tabular | row
	case atom.Tbody, atom.Thead, atom.Tfoot:
		return special | firm | tabular | rows
	case atom.Colgroup:
		return special | firm | tabular | cols
	case atom.Col:
		return void | tabular
	}
	return 0
}

// welcomes says whether a foreign element (of a drawing or a formula) holds
// ordinary HTML.
func welcomes(name string, attrs []attr) bool {
	switch name {
	case "foreignobject", "desc", "title", "mi", "mo", "mn", "ms", "mtext":
		return true
	case "annotation-xml":
		for _, a := range attrs {
			if a.name == "encoding" {
				return a.value == "text/html" || a.value == "application/xhtml+xml"
			}
		}
	}
	return false
}
