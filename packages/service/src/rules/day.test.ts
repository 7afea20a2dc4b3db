import fc from 'fast-check';
import { expect, test } from 'vitest';

import { dayAfter, dayIn, isTimeZone, minutesIn, startOfDay } from './day.ts';

test.each([
  ['2026-03-29', '2026-03-28T23:00:00Z'],
  // The clocks went forward in the night before.
  ['2026-03-30', '2026-03-29T22:00:00Z'],
  ['2026-10-25', '2026-10-24T22:00:00Z'],
  ['2026-10-26', '2026-10-25T23:00:00Z'],
  ['2027-01-01', '2026-12-31T23:00:00Z'],
])('%s begins in Berlin at %s', (day, instant) => {
  expect(new Date(startOfDay('Europe/Berlin', day)).toISOString()).toBe(instant.replace('Z', '.000Z'));
});

test.each([
  ['UTC', '2026-11-10', '2026-11-10T00:00:00Z'],
  ['Asia/Kathmandu', '2026-11-10', '2026-11-09T18:15:00Z'],
  ['Pacific/Kiritimati', '2026-11-10', '2026-11-09T10:00:00Z'],
  ['America/New_York', '2026-11-10', '2026-11-10T05:00:00Z'],
  // The clocks went from midnight to 1:00.
  ['America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00Z'],
])('in %s, %s begins at %s', (timeZone, day, instant) => {
  expect(new Date(startOfDay(timeZone, day)).toISOString()).toBe(instant.replace('Z', '.000Z'));
});

test('a day begins at the first instant that is in it, in any time zone', () => {
  const days = fc.date({ min: new Date('2000-01-01'), max: new Date('2060-01-01'), noInvalidDate: true });
  const zones = fc.constantFrom('Europe/Berlin', 'UTC', 'America/St_Johns', 'Asia/Tokyo', 'Australia/Lord_Howe', 'Pacific/Auckland');
  fc.assert(
    fc.property(days, zones, (date, timeZone) => {
      const day = date.toISOString().slice(0, 10);
      const start = startOfDay(timeZone, day);
      expect([dayIn(timeZone, start), dayAfter(dayIn(timeZone, start - 1))]).toEqual([day, day]);
    }),
  );
});

test.each(['Europe/Berlin', 'UTC', 'America/Argentina/Buenos_Aires'])('%s is a time zone', (name) => expect(isTimeZone(name)).toBe(true));
test.each(['Europe/Nowhere', '+01:00', '', 'Berlin'])("'%s' is not a time zone", (name) => expect(isTimeZone(name)).toBe(false));

test('there is no day in a time zone that does not exist', () => {
  expect(() => dayIn('Europe/Nowhere', 0)).toThrow(new RangeError("There is no time zone 'Europe/Nowhere'."));
});

test('makes the format of a time zone once, because an invoice can have thousands of lines', () => {
  expect(minutesIn('Europe/Berlin')).toBe(minutesIn('Europe/Berlin'));
  expect(minutesIn('Asia/Kolkata')(Date.UTC(2026, 11, 1, 12, 35))).toBe('2026-12-01 18:05');
});
