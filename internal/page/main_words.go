package page

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// A purpose is what an element is for, as far as it says so itself.
type purpose uint16

const (
	isMain    purpose = 1 << iota // the page calls it its main part
	isContent                     // an article, or a name that is customary for content
	isTalk                        // what readers said: comments, answers, reviews
	isFrame                       // by its tag or role around the content
	isAround                      // by its name around the content
	isLead                        // by its name there to lead elsewhere
	isNav                         // navigation by its tag or role
	isAnchor                      // a mark to link to a heading
	isEdit                        // a mark to edit a section
	isCopy                        // to copy code
	isTitle                       // around a heading

	isByline // who wrote it, and when

	notTalk // it only has to do with comments
	hedged  // named for what is beside it
)

// purposeOf reads an element's tag, role and names.
func purposeOf(n *node) purpose {
	k := purposeOfTag(n.tag)
	named := purpose(0)
	for i := range n.attrs {
		switch a := &n.attrs[i]; a.name {
		case "role":
			k |= purposeOfRole(strings.ToLower(strings.TrimSpace(a.value)))
		case "class", "id":
			named |= purposeOfNames(a.value)
		case "rel", "itemprop":
			k |= purposeOfLink(a.value)
		case "aria-label":
			if strings.EqualFold(a.value, "breadcrumb") || strings.EqualFold(a.value, "breadcrumbs") {
				k |= isFrame
			}
		}
	}
	return k | named&namesFor(n.tag, named)
}

// namesFor returns what a name can make of an element of a tag.
func namesFor(tag atom.Atom, named purpose) purpose {
	can := isFrame | isAround | isLead | isEdit | isTitle | isByline
	switch tag {
	case atom.Html, atom.Body, atom.Pre, atom.Code, atom.Table:
		can = 0
	case atom.A:
		can = isAnchor | isByline
	case atom.Button:
		can = isCopy
	case atom.Div, atom.Section, atom.Td:
		can |= isContent | isTalk
	case atom.Article, atom.Ul, atom.Ol, atom.Li:
		can |= isTalk
	}
	if named&notTalk != 0 {
		can &^= isTalk
	}
	return can
}

func purposeOfTag(tag atom.Atom) purpose {
	switch tag {
	case atom.Main:
		return isMain
	case atom.Article:
		return isContent
	case atom.Nav:
		return isFrame | isNav
	case atom.Header:
		return isFrame | isTitle
	case atom.Hgroup:
		return isTitle
	case atom.Footer, atom.Aside, atom.Dialog:
		return isFrame
	case atom.Time, atom.Address:
		return isByline
	}
	return 0
}

// purposeOfLink reads what a link, or a property of the page, is said to be.
func purposeOfLink(value string) purpose {
	switch value {
	case "author", "datePublished", "dateModified", "dateCreated":
		return isByline
	}
	return 0
}

func purposeOfRole(role string) purpose {
	switch role {
	case "main":
		return isMain
	case "navigation":
		return isFrame | isNav
	case "banner", "contentinfo", "complementary", "search", "menu", "menubar", "dialog", "alertdialog":
		return isFrame
	}
	return 0
}

// purposeOfNames reads an id, or the classes of an element.
func purposeOfNames(names string) purpose {
	k := purpose(0)
	var buffer [40]byte // a longer name says nothing
	size := 0
	for i := 0; i <= len(names); i++ {
		c := byte(' ')
		if i < len(names) {
			c = names[i]
		}
		switch {
		case c <= ' ':
			if size <= len(buffer) {
				k |= purposeOfName(buffer[:size])
			}
			size = 0
		case size < len(buffer):
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			buffer[size] = c
			fallthrough
		default:
			size++
		}
	}
	return k
}

// purposeOfName reads a name in lower case. Its first and its last word say what
// it is; a word in the middle, or after "has" and the like, is about something
// else.
func purposeOfName(name []byte) purpose {
	k := purposeOfContent(name)
	var first, last purpose
	words, from := 0, 0
	for i := 0; i <= len(name); i++ {
		if i < len(name) && (name[i] >= 'a' && name[i] <= 'z' || name[i] >= '0' && name[i] <= '9') {
			continue
		}
		if i > from {
			last = purposeOfWord(name[from:i])
			if words++; words == 1 {
				first = last
			}
			k |= last & (isFrame | isAnchor | isCopy | notTalk)
		}
		from = i + 1
	}
	if first&hedged != 0 {
		return k
	}
	return k | first | last
}

// purposeOfContent tells the names that generators of pages give to the content.
func purposeOfContent(name []byte) purpose {
	switch string(name) {
	case "content", "main", "main-content", "maincontent", "page-content", "body-content",
		"article", "article-body", "article-content", "article__body", "articlebody", "story-body",
		"post", "post-content", "post-body", "entry-content", "blog-post", "single-content",
		"markdown-body", "markdown", "theme-doc-markdown", "md-content", "rst-content", "documentwrapper",
		"documentation", "document", "docs-content", "doc-content", "doc", "body", "bodywrapper",
		"mw-content-text", "mw-body", "bodycontent", "mw-parser-output",
		"readme", "prose", "rendered-markdown", "project-description", "mainbar", "primary":
		return isContent
	case "mw-editsection":
		return isEdit
	case "entry-meta", "post-meta", "article-meta", "story-meta", "post-info", "article-info", "post-date", "entry-date", "posted-on", "meta":
		return isByline
	}
	return 0
}

func purposeOfWord(word []byte) purpose {
	switch string(word) {
	case "has", "with", "without", "no", "is":
		return hedged
	case "breadcrumb":
		return isFrame | isAround | isLead
	case "nav", "navbar", "navigation", "menu", "dropdown", "breadcrumbs", "toc",
		"pagination", "pager", "skip", "skiplink", "share", "sharing", "social",
		"related", "recommended", "recommendations":
		return isAround | isLead
	case "sidebar", "sidenav", "footer", "masthead", "topbar",
		"cookie", "cookies", "consent", "gdpr", "banner", "popup", "modal", "overlay",
		"newsletter", "subscribe", "signup", "login",
		"ad", "ads", "advert", "advertisement", "sponsor", "promo", "copyright", "colophon":
		return isAround
	case "comment", "comments", "answer", "answers", "reply", "replies", "discussion", "reviews":
		return isTalk
	case "form", "respond", "link", "links", "count":
		return notTalk
	case "header", "heading", "headline", "title", "hero":
		return isTitle
	case "byline", "dateline", "author", "pubdate":
		return isByline
	case "anchor", "headerlink", "permalink", "hash":
		return isAnchor
	case "copy", "clipboard":
		return isCopy
	}
	return 0
}
