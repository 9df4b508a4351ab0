// Package page turns web pages into what a model reads: Markdown or text. All
// of it takes time linear in the size of the page, whatever the page holds:
// pages are written by strangers.
package page
