package builtin

import (
	"math"
	"slices"
	"strings"
)

// A talk knows the vocabulary that people use for tools.
type talk struct {
	same    map[string][]string // by stem: stems that mean nearly the same
	phrases map[string]string   // two stems in a row, as in "pull request": one that means the same
	spelled map[string][]string // the other way around
	empty   map[string]bool     // words that say little
}

// groups are words with nearly the same meaning, one group a line. A word may be in several groups,
// which stay separate.
const groups = `
remove delete erase trash destroy drop
create make new add open
create generate build
create insert add
add append attach
get fetch read retrieve show view see display load
get list show
list enumerate browse all
find search lookup look locate query
update edit modify change patch alter set
write save store put
write overwrite
send post submit publish
run execute start launch invoke
evaluate execute run
stop shutdown terminate kill halt
cancel abort delete
upload put push
download fetch save export get
rename move
folder directory dir
issue ticket bug
ticket task card
task todo
mail email inbox
message msg chat
database db
repository repo
comment note reply answer respond
user member person people
someone user
colleague user
me my
contact lead
event meeting appointment
customer client
error exception crash failure fault
log output trace
kubernetes k8s kube kubectl
github gh
gitlab gl
aws amazon
postgres postgresql pg
mongodb mongo
document doc docs documentation
page website webpage site
url link address
web internet online
configuration config setting
environment env
authentication auth login signin
permission access allow
parameter param argument
status state stage
label tag
approve accept
decline reject
resolve close fix
sprint iteration cycle
spreadsheet sheet excel
javascript js
vulnerability security
pipeline ci workflow action
check ci
cost bill billing spend price usage
schema structure column
organization org
image picture photo img screenshot
sql select
metric chart graph
alert alarm
deploy release
instance server machine vm host
secret credential password
coupon discount promo voucher
invitation invite
free available availability
reschedule update
coordinates location geocode latitude longitude lat lng
memory ram
replica scale
cdn cache edge
clear purge flush
route direction
crm hubspot
wiki confluence
channel room
container docker
remember memory
newest latest recent last
money payment
dispute chargeback
subscription plan
schedule calendar event
command cmd shell
`

// pairs are two words that form one.
const pairs = `
pull request = pr
merge request = mr
direct message = dm
to do = todo
on call = oncall
time zone = timezone
work log = worklog
free busy = freebusy
key value = kv
sign in = login
log in = login
shut down = shutdown
look up = lookup
data base = database
file system = filesystem
web page = webpage
drop down = dropdown
`

// empties are words that say little about a query.
const empties = `a an the of to in on at by for from with into and or but not is are was be been do does did
has have had can could should would will may i me my we our us you your it its this that these those there
what which who whom whose where when why how please want need like some any all other another using use via
tool tools mcp server function about once at am as go let help user's if so then than also just only one`

func newTalk() talk {
	t := talk{same: map[string][]string{}, phrases: map[string]string{}, spelled: map[string][]string{}, empty: map[string]bool{}}
	for line := range strings.Lines(groups) {
		words := strings.Fields(line)
		for i, w := range words {
			words[i] = stem(w)
		}
		for _, w := range words {
			for _, o := range words {
				if o != w && !slices.Contains(t.same[w], o) {
					t.same[w] = append(t.same[w], o)
				}
			}
		}
	}
	for line := range strings.Lines(pairs) {
		two, one, ok := strings.Cut(strings.TrimSpace(line), " = ")
		a, b, _ := strings.Cut(two, " ")
		if ok {
			a, b, one = stem(a), stem(b), stem(one)
			t.phrases[a+" "+b] = one
			t.spelled[one] = []string{a, b}
		}
	}
	eachWord(empties, func(w string) { t.empty[w] = true })
	return t
}

// A concept is a word of a query with all its possible meanings.
type concept struct {
	words  []meant
	weight float64 // of the word in the query
	idf    float64 // how rare what it means is
}

// A meant is one of the words that a concept may stand for.
type meant struct {
	word   string
	weight float64
}

// Weights of words that differ from the one in the query.
const (
	likeSame    = 0.6 // a synonym
	likeBegin   = 0.6 // it begins with the word, or the other way around
	likeSlip    = 0.7 // it is the word but for a slip
	emptyWeight = 0.2 // a word that says little
	mostMeant   = 16
	leastBegin  = 4 // letters of a beginning that means something
)

// concepts parses a query.
func (x *lexicon) concepts(query string) []concept {
	var words []string
	eachWord(query, func(w string) {
		if !slices.Contains(words, w) && len(words) < 4*mostConcepts {
			words = append(words, w)
		}
	})
	for i := 0; i+1 < len(words); i++ { // pairs that are one word
		if one, ok := x.talk.phrases[words[i]+" "+words[i+1]]; ok && len(x.postings[one]) > 0 && !slices.Contains(words, one) {
			words = append(words, one)
		}
	}
	var out []concept
	for _, empty := range []bool{false, true} {
		for _, w := range words {
			if x.talk.empty[w] != empty || len(out) >= mostConcepts {
				continue
			}
			c := concept{weight: 1}
			if empty {
				c.weight = emptyWeight
			}
			if out = x.appendConcepts(out, w, c); len(out) > mostConcepts {
				out = out[:mostConcepts]
			}
		}
	}
	return out
}

// appendConcepts appends the concepts of one word of a query.
func (x *lexicon) appendConcepts(out []concept, w string, c concept) []concept {
	c.words = x.meanings(w)
	if two, ok := x.talk.spelled[w]; ok {
		// An abbreviation counts as its two words, or as itself.
		for i, part := range two {
			p := concept{words: []meant{{part, 1}, {w, 1}}, weight: c.weight * []float64{1, 0.6}[i]}
			out = append(out, x.rare(p))
		}
		if len(c.words) == 0 || c.words[0].word != w {
			return out
		}
		c.weight *= 0.3
	}
	if len(c.words) == 0 {
		return out
	}
	return append(out, x.rare(c))
}

// rare sets the idf of a concept from all its words together, because a rare word for a common
// thing is not rare.
func (x *lexicon) rare(c concept) concept {
	df := 0.0
	for _, a := range c.words {
		df += a.weight * float64(len(x.postings[a.word]))
	}
	n := float64(len(x.docs))
	df = min(df, n)
	c.idf = math.Log(1 + (n-df+0.5)/(df+0.5))
	return c
}

// meanings returns the words of the index that w may mean.
func (x *lexicon) meanings(w string) []meant {
	var out []meant
	add := func(word string, weight float64) {
		if len(out) < mostMeant && len(x.postings[word]) > 0 && !slices.ContainsFunc(out, func(m meant) bool { return m.word == word }) {
			out = append(out, meant{word, weight})
		}
	}
	add(w, 1)
	for _, s := range x.talk.same[w] {
		add(s, likeSame)
	}
	if len(w) >= leastBegin {
		at, _ := slices.BinarySearch(x.words, w)
		for ; at < len(x.words) && strings.HasPrefix(x.words[at], w); at++ {
			add(x.words[at], likeBegin)
		}
		for n := len(w) - 1; n >= leastBegin; n-- {
			add(w[:n], likeBegin)
		}
	}
	if len(out) == 0 {
		for _, s := range x.near().near(w) {
			add(s, likeSlip)
			for _, o := range x.talk.same[s] {
				add(o, likeSlip*likeSame)
			}
		}
	}
	return out
}
