package regex

import "unicode"

// scriptCodes are the four-letter codes of scripts and their plain names.
const scriptCodes = " adlm=adlam aghb=caucasianalbanian arab=arabic armi=imperialaramaic armn=armenian avst=avestan bali=balinese bamu=bamum" +
	" bass=bassavah batk=batak beng=bengali bhks=bhaiksuki bopo=bopomofo brah=brahmi brai=braille bugi=buginese buhd=buhid" +
	" cakm=chakma cans=canadianaboriginal cari=carian cher=cherokee chrs=chorasmian copt=coptic qaac=coptic cpmn=cyprominoan" +
	" cprt=cypriot cyrl=cyrillic deva=devanagari diak=divesakuru dogr=dogra dsrt=deseret dupl=duployan egyp=egyptianhieroglyphs" +
	" elba=elbasan elym=elymaic ethi=ethiopic geor=georgian glag=glagolitic gong=gunjalagondi gonm=masaramgondi goth=gothic" +
	" gran=grantha grek=greek gujr=gujarati guru=gurmukhi hang=hangul hani=han hano=hanunoo hatr=hatran hebr=hebrew hira=hiragana" +
	" hluw=anatolianhieroglyphs hmng=pahawhhmong hmnp=nyiakengpuachuehmong hung=oldhungarian ital=olditalic java=javanese" +
	" kali=kayahli kana=katakana khar=kharoshthi khmr=khmer khoj=khojki kits=khitansmallscript knda=kannada kthi=kaithi lana=taitham" +
	" laoo=lao latn=latin lepc=lepcha limb=limbu lina=lineara linb=linearb lyci=lycian lydi=lydian mahj=mahajani maka=makasar" +
	" mand=mandaic mani=manichaean marc=marchen medf=medefaidrin mend=mendekikakui merc=meroiticcursive mero=meroitichieroglyphs" +
	" mlym=malayalam mong=mongolian mroo=mro mtei=meeteimayek mult=multani mymr=myanmar nagm=nagmundari nand=nandinagari" +
	" narb=oldnortharabian nbat=nabataean nkoo=nko nshu=nushu ogam=ogham olck=olchiki orkh=oldturkic orya=oriya osge=osage" +
	" osma=osmanya ougr=olduyghur palm=palmyrene pauc=paucinhau perm=oldpermic phag=phagspa phli=inscriptionalpahlavi" +
	" phlp=psalterpahlavi phnx=phoenician plrd=miao prti=inscriptionalparthian rjng=rejang rohg=hanifirohingya runr=runic" +
	" samr=samaritan sarb=oldsoutharabian saur=saurashtra sgnw=signwriting shaw=shavian shrd=sharada sidd=siddham sind=khudawadi" +
	" sinh=sinhala sogd=sogdian sogo=oldsogdian sora=sorasompeng soyo=soyombo sund=sundanese sylo=sylotinagri syrc=syriac" +
	" tagb=tagbanwa takr=takri tale=taile talu=newtailue taml=tamil tang=tangut tavt=taiviet telu=telugu tfng=tifinagh" +
	" tglg=tagalog thaa=thaana tibt=tibetan tirh=tirhuta tnsa=tangsa ugar=ugaritic vaii=vai vith=vithkuqi wara=warangciti" +
	" wcho=wancho xpeo=oldpersian xsux=cuneiform yezi=yezidi yiii=yi zanb=zanabazarsquare zinh=inherited qaai=inherited zyyy=common "

// propertyCodes are the short names of properties and their plain names.
const propertyCodes = " ahex=asciihexdigit alpha=alphabetic bidic=bidicontrol dep=deprecated di=defaultignorablecodepoint dia=diacritic" +
	" ext=extender grbase=graphemebase grext=graphemeextend hex=hexdigit idc=idcontinue ids=idstart idsb=idsbinaryoperator" +
	" idst=idstrinaryoperator ideo=ideographic joinc=joincontrol loe=logicalorderexception lower=lowercase" +
	" nchar=noncharactercodepoint oalpha=otheralphabetic odi=otherdefaultignorablecodepoint ogrext=othergraphemeextend" +
	" oidc=otheridcontinue oids=otheridstart olower=otherlowercase omath=othermath oupper=otheruppercase patsyn=patternsyntax" +
	" patws=patternwhitespace pcm=prependedconcatenationmark qmark=quotationmark ri=regionalindicator sd=softdotted" +
	" sterm=sentenceterminal term=terminalpunctuation uideo=unifiedideograph upper=uppercase vs=variationselector" +
	" space=whitespace wspace=whitespace "

// boolean returns the characters of a property that is there or not: those
// that Go has a table of and those that Unicode defines by such.
func boolean(name string) set {
	if s := more(longName(moreCodes, name)); s != nil {
		return s
	}
	name = longName(propertyCodes, name)
	if s := derived(name); s != nil {
		return s
	}
	for long, t := range unicode.Properties {
		if normalizeClassName(long) == name {
			return tables(t)
		}
	}
	return nil
}

// derived returns the characters of a property that Unicode derives.
func derived(name string) set {
	switch name {
	case "alphabetic":
		return tables(unicode.L, unicode.Nl, unicode.Other_Alphabetic)
	case "lowercase":
		return tables(unicode.Ll, unicode.Other_Lowercase)
	case "uppercase":
		return tables(unicode.Lu, unicode.Other_Uppercase)
	case "cased":
		return tables(unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
	case "math":
		return tables(unicode.Sm, unicode.Other_Math)
	case "idstart":
		return identifier(unicode.L, unicode.Nl, unicode.Other_ID_Start)
	case "idcontinue":
		return identifier(unicode.L, unicode.Nl, unicode.Other_ID_Start, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue)
	case "graphemeextend":
		return tables(unicode.Me, unicode.Mn, unicode.Other_Grapheme_Extend)
	case "graphemebase":
		return tables(unicode.C, unicode.Categories["Cn"], unicode.Zl, unicode.Zp, unicode.Me, unicode.Mn, unicode.Other_Grapheme_Extend).negate(maxRune)
	case "defaultignorablecodepoint":
		out := set{{0xFFF9, 0xFFFB}, {0x13430, 0x13440}}
		return tables(unicode.Other_Default_Ignorable_Code_Point, unicode.Cf, unicode.Variation_Selector).
			minus(out).minus(tables(unicode.White_Space, unicode.Prepended_Concatenation_Mark))
	}
	return nil
}

// identifier returns the characters of tables that no syntax is made of.
func identifier(ts ...*unicode.RangeTable) set {
	return tables(ts...).minus(tables(unicode.Pattern_Syntax, unicode.Pattern_White_Space))
}
