package collation

import (
	"strings"

	"golang.org/x/text/language"
)

// locales are the locales MongoDB documents, with the variants that can be
// asked for as locale@collation=variant. The empty BCP 47 name of a variant
// says that there are no tables for it here.
var locales = map[string]map[string]string{
	"af": nil, "sq": nil, "am": nil, "ar": {"compat": ""}, "hy": nil, "as": nil,
	"az": {"search": ""}, "be": nil, "bn": {"traditional": ""}, "bs": {"search": ""},
	"bs_Cyrl": nil, "bg": nil, "my": nil, "ca": {"search": ""}, "chr": nil,
	"zh":      {"big5han": "", "gb2312han": "", "unihan": "", "zhuyin": "", "stroke": "stroke"},
	"zh_Hant": {"pinyin": "pinyin"},
	"hr":      {"search": ""}, "cs": {"search": ""}, "da": {"search": ""},
	"nl": nil, "dz": nil, "en": nil, "en_US": nil, "en_US_POSIX": nil, "eo": nil,
	"et": nil, "ee": nil, "fo": nil, "fil": nil, "fi": {"search": "", "traditional": "standard"},
	"fr": nil, "fr_CA": nil, "gl": nil, "ka": nil,
	"de":    {"search": "", "eor": "", "phonebook": "phonebk"},
	"de_AT": {"phonebook": "standard"},
	"el":    nil, "gu": nil, "ha": nil, "haw": nil, "he": {"search": ""}, "hi": nil,
	"hu": nil, "is": {"search": ""}, "ig": nil, "smn": {"search": ""}, "id": nil, "ga": nil,
	"it": nil, "ja": {"private-kana": "", "unihan": ""}, "kl": {"search": ""},
	"kn": {"traditional": ""}, "kk": nil, "km": nil, "kok": nil,
	"ko": {"search": "", "unihan": ""}, "ky": nil, "lkt": nil, "lo": nil, "lv": nil,
	"ln": {"phonetic": "phonetic"}, "lt": nil, "dsb": nil, "lb": nil, "mk": nil,
	"ms": nil, "ml": nil, "mt": nil, "mr": nil, "mn": nil, "ne": nil,
	"se": {"search": ""}, "nb": {"search": ""}, "nn": {"search": ""}, "or": nil,
	"om": nil, "ps": nil, "fa": nil, "fa_AF": nil, "pl": nil, "pt": nil, "pa": nil,
	"ro": nil, "ru": nil, "sr": nil, "sr_Latn": {"search": ""}, "si": {"dictionary": ""},
	"sk": {"search": ""}, "sl": nil, "es": {"search": "", "traditional": ""}, "sw": nil,
	"sv": {"search": "", "standard": "standard"}, "ta": nil, "te": nil, "th": nil, "bo": nil,
	"to": nil, "tr": {"search": ""}, "uk": nil, "hsb": nil, "ur": nil, "ug": nil,
	"vi": {"traditional": ""}, "wae": nil, "cy": nil, "yi": {"search": ""}, "yo": nil, "zu": nil,
}

// untabled are the locales with their own order in ICU but no table in x/text.
var untabled = map[string]bool{
	"bo": true, "dsb": true, "gl": true, "hsb": true, "lkt": true, "smn": true, "ug": true, "yi": true,
}

// sameAs maps locales to others with the same rules. The tables lack their
// rules, or have them under another name.
var sameAs = map[string]string{
	"bs": "hr", "bs_Cyrl": "sr", "de_AT": "de", "fa_AF": "ps", "nb": "nn", "sr_Latn": "hr",
}

// respelled corrects the tables of a locale. In Latvian, y is an i with a difference of the
// second level. In the phone books of Austria, ä, ö and ü are letters behind a, o and u, and ß
// stands behind ss; the letters written for them are those of phonetic scripts that stand there.
var respelled = map[string]*strings.Replacer{
	"lv": strings.NewReplacer("y", "i\u0334", "Y", "I\u0334"),
	"de_AT@collation=phonebook": strings.NewReplacer("ä", "ⱥ", "Ä", "Ⱥ", "ö", "ɵ", "Ö", "Ɵ", "ü", "ʉ", "Ü", "Ʉ", "ß", "sȿ", "ẞ", "SⱾ",
		"a\u0308", "ⱥ", "A\u0308", "Ⱥ", "o\u0308", "ɵ", "O\u0308", "Ɵ", "u\u0308", "ʉ", "U\u0308", "Ʉ"),
}

// localeDefaults are the options that a locale changes.
var localeDefaults = map[string]func(*Collation){
	"fr_CA": func(c *Collation) { c.backwards = true },
	"da":    func(c *Collation) { c.caseFirst = "upper" },
	"mt":    func(c *Collation) { c.caseFirst = "upper" },
	"th":    func(c *Collation) { c.alternate = "shifted" },
}

// lookupLocale finds the language tag of a locale. known reports whether
// MongoDB knows the locale, ok whether there are tables for it.
func lookupLocale(locale string) (tag language.Tag, known, ok bool) {
	base, variant, hasVariant := strings.Cut(locale, "@collation=")
	variants, known := locales[base]
	if !known {
		return tag, false, false
	}
	name := strings.ReplaceAll(base, "_", "-")
	if other := sameAs[base]; other != "" {
		name = other
	}
	if base == "en_US_POSIX" {
		name = "en-US-u-va-posix"
	}
	if hasVariant {
		bcp, found := variants[variant]
		if !found {
			return tag, false, false
		}
		if bcp == "" {
			return tag, true, false
		}
		name += "-u-co-" + bcp
	}
	tag, err := language.Parse(name)
	return tag, true, err == nil && !untabled[base]
}

// suggestion returns the locale that ICU uses for an unknown one: its language
// alone.
func suggestion(locale string) string {
	canonical := strings.ReplaceAll(locale, "-", "_")
	if i := strings.IndexByte(canonical, '@'); i >= 0 {
		canonical = canonical[:i]
	}
	for canonical != "" {
		for name := range locales {
			if strings.EqualFold(name, canonical) {
				return name
			}
		}
		i := strings.LastIndexByte(canonical, '_')
		if i < 0 {
			return ""
		}
		canonical = canonical[:i]
	}
	return ""
}
