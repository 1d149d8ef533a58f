/** The texts of the pages: each in both languages, in plain English, and with the same values in both. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { AVOID, isThere } from '../../support/plain-english';

const BROWSER = join(__dirname, '../../../browser');
const MODULES = readdirSync(BROWSER, { recursive: true, encoding: 'utf8' })
  .filter((name) => /words\.js$|\breasons\.js$/.test(name))
  .sort();

/** Words that only texts of a page avoid. */
const ALSO: readonly RegExp[] = [
  /\bmend(?:s|ed|ing)?\b/i,
  /\b(?:un)?tick(?:s|ed)?\b/i,
  /\bby itself\b/i,
  /\baltogether\b/i,
  /\bleft alone\b/i,
  /\bits way\b/i,
  /\bask(?:s|ed)?\b/i,
];
const MAX_SENTENCE = 25;

type Words = readonly [english: string, chinese: string];
const isWords = (value: unknown): value is Words =>
  Array.isArray(value) && value.length === 2 && value.every((text) => typeof text === 'string');
/** A reason: its action, and its words. */
const isReason = (value: unknown): value is readonly [string, ...Words] =>
  Array.isArray(value) && value.length === 3 && value.every((text) => typeof text === 'string');

function wordsIn(value: unknown): Words[] {
  if (isWords(value)) return [value];
  if (isReason(value)) return [[value[1], value[2]]];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(wordsIn) : [];
}

const texts = MODULES.map((name): [string, Words[]] => [
  name,
  wordsIn(require(join(BROWSER, name))),
]);
const placesIn = (text: string) => [...new Set(text.match(/\{\d\}/g))].sort();
const isChinese = (text: string) => /\p{Script=Han}/u.test(text);

test('all files with texts are checked', () => {
  expect(texts.filter(([, found]) => found.length === 0)).toEqual([]);
  expect(texts.length).toBeGreaterThan(14);
});

test.each(texts)('%s is plain English', (_, words) => {
  const avoid = [...AVOID.map(([word]) => word), ...ALSO];
  const found = words.flatMap(([english]) =>
    avoid
      .filter((word) => isThere(word, english))
      .map((word) => `"${word.exec(english)?.[0]}" in "${english}"`),
  );
  expect(found).toEqual([]);
  const sentences = words.flatMap(([english]) => english.split(/(?<=[.:!?;])\s+/));
  expect(sentences.filter((text) => text.split(/\s+/).length > MAX_SENTENCE)).toEqual([]);
});

test.each(texts)(
  '%s has the same values in both languages, and no word of the other',
  (_, words) => {
    for (const [english, chinese] of words) {
      expect([english, placesIn(english)]).toEqual([english, placesIn(chinese)]);
      expect([english, isChinese(english)]).toEqual([english, false]);
    }
  },
);
