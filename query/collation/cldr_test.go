package collation

import (
	"strings"
	"testing"
)

// tailorings are orders that the Common Locale Data Repository gives for
// languages: what ICU sorts by. Each line ascends; all but those joined by "="
// differ in their first level.
var tailorings = []struct{ locale, order string }{
	{"sv", "v w x y z å ä ö"},
	{"fi", "v w x y z å ä ö"},
	{"da", "v w x y z æ ø å"},
	{"nb", "v w x y z æ ø å"},
	{"nn", "v w x y z æ ø å"},
	{"kl", "z æ ø å"},
	{"fo", "z æ ø"},
	{"da", "y=ü z æ=ä ø=ö=ő å=aa"},
	{"nb", "y=ü z æ=ä ø=ö=ő å=aa"},
	{"sv", "y=ü z å ä=æ ö=ø"},
	{"is", "a á b d ð e é f i í j o ó p u ú v y ý z þ æ ö å"},
	{"es", "m n ñ o"},
	{"gl", "m n ñ o"},
	{"de", "a=ä b o=ö p s t u=ü v"},
	{"de_AT@collation=phonebook", "a ä b o ö p s ss ß st u ü v"},
	{"et", "r s š z ž t u v õ ä ö ü x y"},
	{"lt", "b c č d h i=y j r s š t z ž"},
	{"lv", "b c č d g ģ h i=y iz=yz j k ķ l ļ m n ņ o r ŗ s š t z ž"},
	{"cs", "b c č d h ch i r ř s š t z ž"},
	{"sk", "a ä b c č d h ch i o ô p s š t z ž"},
	{"hu", "a=á b c cs d dz dzs e g gy h l ly m n ny o=ó ö=ő p s sz t ty u=ú ü=ű v z zs"},
	{"pl", "a ą b c ć d e ę f l ł m n ń o ó p s ś t z ź ż"},
	{"ro", "a ă â b i î j s ș t ț u"},
	{"tr", "b c ç d g ğ h ı i j o ö p s ş t u ü v"},
	{"az", "b c ç d e ə f g ğ h x ı i j k q l o ö p s ş t u ü v"},
	{"hr", "b c č ć d dž đ e l lj m n nj o s š t z ž"},
	{"bs", "b c č ć d dž đ e l lj m n nj o s š t z ž"},
	{"sr_Latn", "b c č ć d dž đ e l lj m n nj o s š t z ž"},
	{"sl", "b c č ć d đ e s š t z ž"},
	{"cy", "b c ch d dd e f ff g ng h l ll m p ph r rh s t th u"},
	{"sq", "b c ç d dh e ë f g gj h l ll m n nj o r rr s sh t th u x xh y z zh"},
	{"vi", "a ă â b d đ e ê f o ô ơ p u ư v"},
	{"eo", "b c ĉ d g ĝ h ĥ i j ĵ k s ŝ t u ŭ v"},
	{"fil", "m n ñ ng o"},
	{"mt", "b ċ c d f ġ g h ħ i y ż z"},
	{"ha", "a b ɓ c d ɗ e k ƙ l s sh t ts u y"},
	{"ig", "a b ch c d g gb gh gw h i ị j k kp kw l n ṅ nw ny o ọ p s sh t u ụ v"},
	{"yo", "d e ẹ f g gb h o ọ p s ṣ t"},
	{"ee", "d dz ɖ e ɛ f ƒ g gb ɣ h k kp l n ny ŋ o ɔ p t ts u v ʋ w"},
	{"to", "m n ng o s u ʻ"},
	{"haw", "a e i o u h k l m n p w ʻ"},
	{"se", "a á b c č d đ e g l n ŋ o s š t ŧ u z ø æ å"},
	{"lb", "a=ä b"},
	{"nl", "h i ij=ĳ j k"},
	{"ca", "k l m n o"},
	{"uk", "г ґ д е є ж з и і ї й к я a"},
	{"ru", "г д е=ё ж и й к я a"},
	{"be", "д е ё ж и і й к у ў ф a"},
	{"bg", "г д е ж и й к я a"},
	{"mk", "г д ѓ е ж з ѕ и ј к л т ќ у"},
	{"sr", "г д ђ е ж з и ј к л љ м н њ о п р с т ћ у"},
	{"kk", "а ә б г ғ д е и й к қ л н ң о ө п у ұ ү ф х һ ц ы і"},
	{"ky", "н ң о ө п у ү ф"},
	{"mn", "о ө п у ү ф"},
	{"el", "α=ά β γ ω a"},
	{"hy", "ա բ գ ֆ a"},
	{"ka", "ა ბ გ a"},
	{"he", "א ב ג ת a"},
	{"ar", "ا ب ت ث ج a"},
	{"fa", "آ ا ب پ ت"},
	{"ur", "ا ب پ ت ٹ ث"},
	{"hi", "अ आ इ क ख ग a"},
	{"th", "ก เก ข เข a"},
	{"ja", "a あ=ア い か=が=カ=ガ 亜 唖 娃 阿 α я"},
	{"bs", "b c č ć d dž đ e l lj m n nj o s š t z ž"},
	{"fa_AF", "ا ب پ ت ث ج"},
	{"bs_Cyrl", "г д ђ е ж з и=й к=ќ л љ м a"},
	{"ru", "г=ѓ д е=ё и і=ї й к=ќ л у=ў ф"},
	{"uk", "г=ѓ ґ д і ї=ї й"},
	{"fi@collation=traditional", "v=w x y z å ä ö"},
	{"zh@collation=stroke", "一 乙 丁 a"},
	{"ko", "가 나 다 a"},
	{"zh", "阿 八 中 a"},
	{"zh_Hant", "一 乙 丁 a"},
	{"en_US_POSIX", "0 A B Z a b z"},
	{"am", "ሀ ለ ሐ a"},
	{"af", "m n=ŉ o"},
}

func TestTailorings(t *testing.T) {
	for _, c := range tailorings {
		if untabled[c.locale] {
			continue
		}
		coll := parse(t, `{"locale": "`+c.locale+`", "strength": 1, "caseFirst": "off", "backwards": false}`)
		before := ""
		for g := range strings.FieldsSeq(c.order) {
			equal := strings.Split(g, "=")
			for _, e := range equal[1:] {
				if coll.Compare(equal[0], e) != 0 {
					t.Errorf("%s: %s and %s differ", c.locale, equal[0], e)
				}
			}
			if before != "" && coll.Compare(before, equal[0]) >= 0 {
				t.Errorf("%s: %s is not before %s", c.locale, before, equal[0])
			}
			before = equal[0]
		}
	}
}
