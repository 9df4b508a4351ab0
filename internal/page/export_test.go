package page

// Title is the title of the page, on one line; empty where it has none.
func (d *Doc) Title() string { return d.title }
