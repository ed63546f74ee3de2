package library

import (
	"strings"
	"testing"

	"troupe/schema/score"
)

// TestListsAsSpreadsheetsWriteThem reads what programs make of a list, or refuses it with a way out.
func TestListsAsSpreadsheetsWriteThem(t *testing.T) {
	story := "story;name.en;repeat;order;act\r\nevening;Evening;loop;1;welcome\r\n"
	wait := func(separator, value string) string {
		return strings.ReplaceAll("act;type;start_ms;end_ms\nlong;wait;0;", ";", separator) + value + "\n"
	}
	head := func(separator, value string) string {
		return strings.ReplaceAll("act;type;start_ms;yaw_rad\nnod;head;0;", ";", separator) + value + "\n"
	}
	utf16 := strings.Join(strings.Split("story\tact\n", ""), "\x00") + "\x00"
	for name, c := range map[string]struct{ text, want string }{
		"a line for Excel":  {"sep=;\r\n" + story, "Evening"},
		"lines end with CR": {strings.ReplaceAll(story, "\r\n", "\r"), "Evening"},
		"a title": {"Plan for the hall;;;;\r\n;;;;\r\n" + story,
			"the names of the columns are in row 3, below a title; delete the rows above it"},
		"Windows-1252": {strings.Replace(story, "Evening", "Begr\xfc\xdfung", 1),
			"byte FC is not UTF-8; it is 'ü' in Latin-1, in which the file seems to be saved; save it as CSV UTF-8, as spreadsheets call it"},
		"UTF-16":                   {"\xff\xfe" + utf16, "the file is UTF-16 text; save it as CSV UTF-8, as spreadsheets call it"},
		"UTF-16 without a mark":    {utf16, "the file is UTF-16 text without a byte order mark; save it as CSV UTF-8, as spreadsheets call it"},
		"a name without language":  {strings.Replace(story, "name.en", "name", 1), `"name" is no field of a list of this kind; write name.en: it has a column for each of its parts`},
		"a misspelled column":      {strings.Replace(story, "repeat", "repaet", 1), `"repaet" is no field of a list of this kind; did you mean repeat? map it to a field, or ignore it`},
		"a whole number":           {wait(",", "12000"), "12000"},
		"a number with a fraction": {wait(",", "12000.0"), "12000"},
		"an exponent":              {wait(",", "1.2E+04"), "1.2E+04"},
		"thousands by a comma":     {wait(",", `"12,000"`), "12,000 is 12000 if the sign groups thousands, and 12.0 if it begins decimals; write the one that you mean"},
		"thousands by a point": {wait(";", "12.000"),
			"12.000 is 12000 if the sign groups thousands, and 12.0 if it begins decimals; write the one that you mean"},
		"a padded number": {wait(",", "05000"), "05000 is 5000 in decimal and 2560 in octal; write 5000 or 2560"},
		"many thousands":  {wait(",", `"1,200,000"`), `"1,200,000" has signs between its thousands; write its digits without them`},
		"a decimal comma": {head(";", "0,4"), "0.4"},
		"three decimals":  {head(",", "1.125"), "1.125"},
		"three decimals, perhaps": {head(";", "1,125"),
			"1,125 is 1125 if the sign groups thousands, and 1.1250 if it begins decimals; write the one that you mean"},
		"the written decimals": {head(";", "1,1250"), "1.1250"},
		"no number":            {head(",", "NaN"), "NaN is not a number that a robot can use; write a finite number"},
	} {
		list, found := ReadCSV([]byte(c.text), nil)
		switch {
		case len(found) == 0 && (len(list.Entries) != 1 || !strings.Contains(string(list.Entries[0].Text), c.want)):
			t.Errorf("%s: %s, want %s", name, list.Entries[0].Text, c.want)
		case len(found) > 0 && strings.TrimSuffix(found[0].Detail+"; "+found[0].Hint, "; ") != c.want:
			t.Errorf("%s: %s; %s, want %s", name, found[0].Detail, found[0].Hint, c.want)
		}
		if len(found) == 0 && list.Kind == KindAct {
			if _, problems := score.ParseAct(list.Entries[0].Text); len(problems) > 0 {
				t.Errorf("%s: %s is not valid: %v", name, list.Entries[0].Text, problems)
			}
		}
	}
}

// TestListIsBounded reads lists that ask for much memory.
func TestListIsBounded(t *testing.T) {
	columns := strings.Repeat(",", 300)
	for name, c := range map[string]struct{ text, want string }{
		"columns":        {"act,type" + columns + "\n", "the list has 302 columns, at most 200 are read; remove those that are empty"},
		"rows":           {"act,type\n" + strings.Repeat("a,wait\n", 20_002), "the list has over 20000 rows; split it"},
		"rows of an act": {"act,type\n" + strings.Repeat("a,wait\n", 2001), "it has 2001 rows, at most 2000 are read; split it in two"},
	} {
		if _, found := ReadCSV([]byte(c.text), nil); len(found) != 1 || found[0].Detail+"; "+found[0].Hint != c.want {
			t.Errorf("%s: %v, want %s", name, found, c.want)
		}
	}
	wrong := "act,type,start_ms,end_ms\n" + strings.Repeat("a,wait,x,y\n", 2000)
	if list, found := ReadCSV([]byte(wrong), nil); len(found) != maxListed || list.Unlisted != 3000 {
		t.Errorf("%d problems are listed and %d are not, want %d and 3000", len(found), list.Unlisted, maxListed)
	}
}
