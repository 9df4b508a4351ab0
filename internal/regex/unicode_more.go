package regex

import "strings"

// moreCodes are the short names of the properties in moreTable.
const moreCodes = " ci=caseignorable cwcf=changeswhencasefolded cwcm=changeswhencasemapped cwl=changeswhenlowercased" +
	" cwt=changeswhentitlecased cwu=changeswhenuppercased ebase=emojimodifierbase ecomp=emojicomponent emod=emojimodifier" +
	" epres=emojipresentation extpict=extendedpictographic xidc=xidcontinue xids=xidstart "

// more returns the characters of a property that Go has no table of.
func more(name string) set {
	for rest := moreTable; rest != ""; {
		n := int(rest[0])
		key := rest[1 : 1+n]
		ranges, w := varint(rest[1+n:])
		rest = rest[1+n+w:]
		size, w := varint(rest)
		rest = rest[w:]
		if key == name {
			return decodeTable(rest[:size], int(ranges))
		}
		rest = rest[size:]
	}
	return nil
}

// longName returns what a short name stands for in a list of codes, or the
// name itself.
func longName(codes, name string) string {
	i := strings.Index(codes, " "+name+"=")
	if i < 0 || strings.ContainsAny(name, " =") {
		return name
	}
	long := codes[i+len(name)+2:]
	return long[:strings.IndexByte(long, ' ')]
}
