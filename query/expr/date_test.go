package expr

import "testing"

const datesDoc = `{d: date('2017-06-19T15:13:25.713Z'), n: null, s: 'x', ts: ts(1412180887,1), id: oid('507c7f79bcf86cd7994f6c0e'), old: ms(-1)}`

func TestDateParts(t *testing.T) {
	checkResults(t, datesDoc, []result{
		{`{$year: '$d'}`, `2017`}, {`{$month: '$d'}`, `6`}, {`{$dayOfMonth: '$d'}`, `19`}, {`{$hour: '$d'}`, `15`}, {`{$minute: '$d'}`, `13`}, {`{$second: '$d'}`, `25`}, {`{$millisecond: '$d'}`, `713`},
		{`{$dayOfYear: '$d'}`, `170`}, {`{$dayOfWeek: '$d'}`, `2`}, {`{$week: '$d'}`, `25`}, {`{$isoWeek: '$d'}`, `25`}, {`{$isoWeekYear: '$d'}`, `long(2017)`}, {`{$isoDayOfWeek: '$d'}`, `1`},
		{`{$isoWeek: date('2016-01-03T00:00:00Z')}`, `53`}, {`{$isoWeekYear: date('2016-01-03T00:00:00Z')}`, `long(2015)`}, {`{$week: date('2016-01-01T00:00:00Z')}`, `0`},
		{`{$hour: {date: '$d', timezone: 'America/New_York'}}`, `11`}, {`{$dayOfMonth: {date: date('2016-01-01T00:00:00Z'), timezone: '-0500'}}`, `31`}, {`{$hour: {date: '$d', timezone: '$n'}}`, `null`},
		{`{$year: '$ts'}`, `2014`}, {`{$year: '$id'}`, `2012`}, {`{$year: ['$d']}`, `2017`}, {`{$year: '$n'}`, `null`}, {`{$millisecond: '$old'}`, `999`}, {`{$year: '$old'}`, `1969`},
		{`{$dateToParts: {date: '$d'}}`, `{year: 2017, month: 6, day: 19, hour: 15, minute: 13, second: 25, millisecond: 713}`},
		{`{$dateToParts: {date: '$d', iso8601: true}}`, `{isoWeekYear: 2017, isoWeek: 25, isoDayOfWeek: 1, hour: 15, minute: 13, second: 25, millisecond: 713}`},
		{`{$dateToParts: {date: '$d', timezone: '+05:30'}}`, `{year: 2017, month: 6, day: 19, hour: 20, minute: 43, second: 25, millisecond: 713}`},
		{`{$dateFromParts: {year: 2017, month: 2, day: 8, hour: 12}}`, `date('2017-02-08T12:00:00Z')`},
		{`{$dateFromParts: {isoWeekYear: 2017, isoWeek: 6, isoDayOfWeek: 3, hour: 12}}`, `date('2017-02-08T12:00:00Z')`},
		{`{$dateFromParts: {year: 2016, month: 12, day: 31, hour: 23, minute: 46, second: 12, timezone: 'America/New_York'}}`, `date('2017-01-01T04:46:12Z')`},
		{`{$dateFromParts: {year: 2017, month: 14, day: 1, hour: 12}}`, `date('2018-02-01T12:00:00Z')`}, {`{$dateFromParts: {year: 2017, month: 0, day: 1, hour: 12}}`, `date('2016-12-01T12:00:00Z')`},
		{`{$dateFromParts: {year: 2017, month: '$n'}}`, `null`}, {`{$dateFromParts: {year: 1}}`, `ms(-62135596800000)`},
	})
	checkFailures(t, datesDoc, []failure{
		{`{$year: '$s'}`, 16006, "can't convert from BSON type string to Date"}, {`{$year: {timezone: 'UTC'}}`, 40539, ""}, {`{$year: {date: '$d', z: 1}}`, 40535, `unrecognized option to $year: "z"`},
		{`{$year: ['$d', '$d']}`, 40536, "$year accepts exactly one argument if given an array, but was given 2"},
		{`{$hour: {date: '$d', timezone: 'Nowhere'}}`, 40485, `unrecognized time zone identifier: "Nowhere"`}, {`{$hour: {date: '$d', timezone: 1}}`, 40517, "timezone must evaluate to a string, found int"},
		{`{$dateToParts: {date: '$d', iso8601: 1}}`, 40521, "iso8601 must evaluate to a bool, found int"}, {`{$dateToParts: 1}`, 40524, ""}, {`{$dateToParts: {}}`, 40522, "Missing 'date' parameter to $dateToParts"}, {`{$dateToParts: {date: 1, z: 1}}`, 40520, ""},
		{`{$dateFromParts: {month: 1}}`, 40516, ""}, {`{$dateFromParts: {year: 1, isoWeek: 1}}`, 40489, ""}, {`{$dateFromParts: {isoWeekYear: 1, month: 1}}`, 40525, ""}, {`{$dateFromParts: {z: 1}}`, 40518, ""},
		{`{$dateFromParts: {year: 10000}}`, 40523, "'year' must evaluate to an integer in the range 1 to 9999, found 10000"}, {`{$dateFromParts: {year: 'a'}}`, 40515, ""},
		{`{$dateFromParts: {year: 2017, month: 70000}}`, 31034, "'month' must evaluate to a value in the range [-32768, 32767]; value 70000 is not in range"},
	})
}

func TestDateStrings(t *testing.T) {
	checkResults(t, `{d: date('2014-01-01T08:15:39.736Z'), n: null}`, []result{
		{`{$dateToString: {format: '%Y-%m-%d', date: '$d'}}`, `'2014-01-01'`}, {`{$dateToString: {format: '%H:%M:%S:%L%z', date: '$d', timezone: 'America/New_York'}}`, `'03:15:39:736-0500'`},
		{`{$dateToString: {format: '%H:%M:%S:%L%z', date: '$d', timezone: '+04:30'}}`, `'12:45:39:736+0430'`}, {`{$dateToString: {format: '%Z', date: '$d', timezone: '+04:30'}}`, `'270'`}, {`{$dateToString: {format: '%Z', date: '$d'}}`, `'0'`}, {`{$dateToString: {format: '%Z', date: '$d', timezone: 'America/New_York'}}`, `'-300'`},
		{`{$dateToString: {format: '%j %u %U %V %w %G %b %B %%', date: '$d'}}`, `'001 3 00 01 4 2014 Jan January %'`}, {`{$dateToString: {date: '$d'}}`, `'2014-01-01T08:15:39.736Z'`}, {`{$dateToString: {date: '$d', timezone: 'Europe/London'}}`, `'2014-01-01T08:15:39.736'`},
		{`{$dateToString: {date: '$n', onNull: 'none'}}`, `'none'`}, {`{$dateToString: {date: '$missing'}}`, `null`},
		{`{$dateFromString: {dateString: '2017-02-08T12:10:40.787'}}`, `date('2017-02-08T12:10:40.787Z')`}, {`{$dateFromString: {dateString: '2017-02-08T12:10:40.787', timezone: 'America/New_York'}}`, `date('2017-02-08T17:10:40.787Z')`},
		{`{$dateFromString: {dateString: '2017-02-08'}}`, `date('2017-02-08T00:00:00Z')`}, {`{$dateFromString: {dateString: '06-15-2018', format: '%m-%d-%Y'}}`, `date('2018-06-15T00:00:00Z')`}, {`{$dateFromString: {dateString: '15-06-2018', format: '%d-%m-%Y'}}`, `date('2018-06-15T00:00:00Z')`},
		{`{$dateFromString: {dateString: '2017-07-06T12:35:37+0500'}}`, `date('2017-07-06T07:35:37Z')`}, {`{$dateFromString: {dateString: '2017-07-06T12:35:37Z'}}`, `date('2017-07-06T12:35:37Z')`}, {`{$dateFromString: {dateString: '2017-07-06 12:35:37 GMT'}}`, `date('2017-07-06T12:35:37Z')`},
		{`{$dateFromString: {dateString: 'July 4th, 2017 12:39:30 BST'}}`, `date('2017-07-04T11:39:30Z')`}, {`{$dateFromString: {dateString: '6 July 2017'}}`, `date('2017-07-06T00:00:00Z')`}, {`{$dateFromString: {dateString: '07/06/2017 3:04pm'}}`, `date('2017-07-06T15:04:00Z')`}, {`{$dateFromString: {dateString: '20170706T123537'}}`, `date('2017-07-06T12:35:37Z')`},
		{`{$dateFromString: {dateString: '2017, Day 26', format: '%Y, Day %j'}}`, `date('2017-01-27T00:00:00Z')`}, {`{$dateFromString: {dateString: '2017-302', format: '%Y-%j'}}`, `date('2017-10-30T00:00:00Z')`}, {`{$dateFromString: {dateString: '2018-W09-4', format: '%G-W%V-%u'}}`, `date('2018-03-01T00:00:00Z')`}, {`{$dateFromString: {dateString: 'Jul 02 2018', format: '%b %d %Y'}}`, `date('2018-07-02T00:00:00Z')`},
		{`{$dateFromString: {dateString: '2018-01-01 10:11:12.5 -0200', format: '%Y-%m-%d %H:%M:%S.%L %z'}}`, `date('2018-01-01T12:11:12.500Z')`}, {`{$dateFromString: {dateString: '2018-01-01 +060', format: '%Y-%m-%d %Z'}}`, `date('2017-12-31T23:00:00Z')`},
		{`{$dateFromString: {dateString: '$n', onNull: 1}}`, `1`}, {`{$dateFromString: {dateString: 'nonsense', onError: 'bad'}}`, `'bad'`}, {`{$dateFromString: {dateString: 5, onError: 'bad'}}`, `'bad'`}, {`{$dateFromString: {dateString: '2017-01-01', timezone: '$n'}}`, `null`},
	})
	checkFailures(t, `{d: date('2014-01-01T08:15:39.736Z')}`, []failure{
		{`{$dateToString: {date: '$d', format: '%i'}}`, 18536, "Invalid format character '%i' in format string"}, {`{$dateToString: {date: '$d', format: '%'}}`, 18535, "Unmatched '%' at end of format string"}, {`{$dateToString: {date: '$d', format: 5}}`, 18533, "$dateToString requires that 'format' be a string, found: int with value 5"},
		{`{$dateToString: {}}`, 18628, ""}, {`{$dateToString: 1}`, 18629, ""}, {`{$dateToString: {date: 1, z: 1}}`, 18534, ""}, {`{$dateToString: {date: ms(-99999999999999), format: '%Y'}}`, 18537, ""},
		{`{$dateFromString: {dateString: '60.Monday1770/06:59'}}`, 241, ""}, {`{$dateFromString: {dateString: '2017-13-01'}}`, 241, ""}, {`{$dateFromString: {dateString: '2017-02-30'}}`, 241, ""}, {`{$dateFromString: {dateString: '12:00'}}`, 241, `an incomplete date/time string has been found, with elements missing: "12:00"`},
		{`{$dateFromString: {dateString: '2017-07-06T12:35:37Z', timezone: 'Europe/Amsterdam'}}`, 241, ""}, {`{$dateFromString: {dateString: '2017-07-06T12:35:37 Europe/Amsterdam'}}`, 241, ""},
		{`{$dateFromString: {dateString: '2018', format: '%Y-%m'}}`, 241, ""}, {`{$dateFromString: {dateString: 5}}`, 241, "$dateFromString requires that 'dateString' be a string, found: int with value 5"}, {`{$dateFromString: {dateString: 'a', format: '%U'}}`, 18536, ""}, {`{$dateFromString: {}}`, 40542, ""}, {`{$dateFromString: 1}`, 40540, "$dateFromString only supports an object as an argument, found: int"},
	})
}

func TestDateArithmetic(t *testing.T) {
	checkResults(t, datesDoc, []result{
		{`{$dateAdd: {startDate: date('2020-10-31T00:00:00Z'), unit: 'month', amount: 1}}`, `date('2020-11-30T00:00:00Z')`}, {`{$dateAdd: {startDate: date('2020-02-29T00:00:00Z'), unit: 'year', amount: -1}}`, `date('2019-02-28T00:00:00Z')`},
		{`{$dateAdd: {startDate: date('2020-10-31T12:10:05Z'), unit: 'hour', amount: 24, timezone: 'America/New_York'}}`, `date('2020-11-01T12:10:05Z')`}, {`{$dateAdd: {startDate: date('2020-10-31T12:10:05Z'), unit: 'day', amount: 1, timezone: 'America/New_York'}}`, `date('2020-11-01T13:10:05Z')`},
		{`{$dateAdd: {startDate: '$d', unit: 'quarter', amount: 1}}`, `date('2017-09-19T15:13:25.713Z')`}, {`{$dateAdd: {startDate: '$d', unit: 'week', amount: 2}}`, `date('2017-07-03T15:13:25.713Z')`}, {`{$dateAdd: {startDate: '$d', unit: 'millisecond', amount: 2.0}}`, `date('2017-06-19T15:13:25.715Z')`},
		{`{$dateSubtract: {startDate: date('2021-03-31T12:00:00Z'), unit: 'month', amount: 1}}`, `date('2021-02-28T12:00:00Z')`}, {`{$dateSubtract: {startDate: '$n', unit: 'month', amount: 1}}`, `null`}, {`{$dateAdd: {startDate: '$d', unit: '$n', amount: 1}}`, `null`},
		{`{$dateDiff: {startDate: date('2021-01-01T00:00:00Z'), endDate: date('2021-12-31T00:00:00Z'), unit: 'year'}}`, `long(0)`}, {`{$dateDiff: {startDate: date('2020-12-31T23:59:59Z'), endDate: date('2021-01-01T00:00:00Z'), unit: 'year'}}`, `long(1)`},
		{`{$dateDiff: {startDate: date('2021-01-24T00:00:00Z'), endDate: date('2021-01-25T00:00:00Z'), unit: 'week', startOfWeek: 'Monday'}}`, `long(1)`}, {`{$dateDiff: {startDate: date('2021-01-24T00:00:00Z'), endDate: date('2021-01-25T00:00:00Z'), unit: 'week'}}`, `long(0)`},
		{`{$dateDiff: {startDate: date('2020-11-01T04:30:00Z'), endDate: date('2020-11-01T08:30:00Z'), unit: 'hour', timezone: 'America/New_York'}}`, `long(4)`}, {`{$dateDiff: {startDate: date('2020-01-01T00:00:00Z'), endDate: date('2019-12-31T23:59:59Z'), unit: 'day'}}`, `long(-1)`},
		{`{$dateDiff: {startDate: '$d', endDate: '$d', unit: 'millisecond'}}`, `long(0)`}, {`{$dateDiff: {startDate: date('2020-01-31T00:00:00Z'), endDate: date('2020-07-01T00:00:00Z'), unit: 'quarter'}}`, `long(2)`}, {`{$dateDiff: {startDate: '$n', endDate: '$d', unit: 'day'}}`, `null`},
		{`{$dateTrunc: {date: date('2021-03-20T11:30:05Z'), unit: 'month'}}`, `date('2021-03-01T00:00:00Z')`}, {`{$dateTrunc: {date: date('2021-03-20T11:30:05Z'), unit: 'week', binSize: 2, timezone: 'America/Los_Angeles', startOfWeek: 'Monday'}}`, `date('2021-03-15T07:00:00Z')`},
		{`{$dateTrunc: {date: date('2021-03-20T11:30:05Z'), unit: 'hour', binSize: 2, timezone: '+00:30'}}`, `date('2021-03-20T11:30:00Z')`}, {`{$dateTrunc: {date: date('1999-12-31T23:59:59Z'), unit: 'year', binSize: 3}}`, `date('1997-01-01T00:00:00Z')`}, {`{$dateTrunc: {date: '$d', unit: 'quarter'}}`, `date('2017-04-01T00:00:00Z')`},
		{`{$dateTrunc: {date: '$d', unit: 'day', timezone: 'America/New_York'}}`, `date('2017-06-19T04:00:00Z')`}, {`{$dateTrunc: {date: '$missing', unit: 'day'}}`, `null`}, {`{$dateTrunc: {date: '$d', unit: 'week', startOfWeek: 'fri'}}`, `date('2017-06-16T00:00:00Z')`},
	})
	checkFailures(t, datesDoc, []failure{
		{`{$dateAdd: {}}`, 5166402, "$dateAdd requires startDate, unit, and amount to be present"}, {`{$dateAdd: 1}`, 5166400, "$dateAdd expects an object as its argument.found type: int"}, {`{$dateAdd: {z: 1}}`, 5166401, ""},
		{`{$dateAdd: {startDate: '$d', unit: 'century', amount: 1}}`, 9, "unknown time unit value: century"}, {`{$dateAdd: {startDate: '$d', unit: 5, amount: 1}}`, 5166404, "$dateAdd expects string defining the time unit"},
		{`{$dateAdd: {startDate: '$s', unit: 'day', amount: 1}}`, 5166403, "$dateAdd requires startDate to be convertible to a date"}, {`{$dateAdd: {startDate: '$d', unit: 'day', amount: 1.5}}`, 5166405, "$dateAdd expects integer amount of time units"},
		{`{$dateAdd: {startDate: '$d', unit: 'year', amount: long(1000000000000)}}`, 5976500, "invalid dateAdd 'amount' parameter value: 1000000000000 year"}, {`{$dateSubtract: {startDate: '$d', unit: 'day', amount: long(-9223372036854775808)}}`, 6045000, ""},
		{`{$dateDiff: {endDate: '$d', unit: 'day'}}`, 5166303, "Missing 'startDate' parameter to $dateDiff"}, {`{$dateDiff: {startDate: '$s', endDate: '$d', unit: 'day'}}`, 5166307, "$dateDiff requires 'startDate' to be a date, but got string"}, {`{$dateDiff: {startDate: '$d', endDate: '$d', unit: 'week', startOfWeek: 'x'}}`, 5439016, ""},
		{`{$dateDiff: {startDate: '$d', endDate: '$d', unit: 'day', timezone: 'X/Y'}}`, 40485, `$dateDiff parameter 'timezone' value parsing failed :: caused by :: unrecognized time zone identifier: "X/Y"`},
		{`{$dateTrunc: {date: '$d', unit: 'day', binSize: 0}}`, 5439018, "$dateTrunc requires 'binSize' to be greater than 0, but got value 0"}, {`{$dateTrunc: {date: '$d', unit: 'day', binSize: 'a'}}`, 5439017, ""}, {`{$dateTrunc: {date: '$s', unit: 'day'}}`, 5439012, "$dateTrunc requires 'date' to be a date, but got string"}, {`{$dateTrunc: {unit: 'day'}}`, 5439009, ""},
	})
}
