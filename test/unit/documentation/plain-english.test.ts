/**
 * Comments, log messages, error details and the documentation are plain English: none has a word to avoid. Sentences of
 * the documentation have at most 25 words, and its pages at most 2,500.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AVOID, isThere } from '../../support/plain-english';
import { sourceTexts } from '../../support/source-texts';

const ROOT = join(__dirname, '../../..');

/** Sentences that need the word. */
const EXCEPTIONS: readonly string[] = [];

const FOUND = ['src', 'workers'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`)
    .flatMap((file) => findings(file)),
);

function findings(file: string): string[] {
  return sourceTexts(readFileSync(join(ROOT, file), 'utf8'))
    .filter(({ kind, text }) => kind === 'comment' || /\w \w/.test(text))
    .flatMap(({ text, line }) =>
      text
        .split(/(?<=[.:;!?])\s+/)
        .filter((sentence) => !EXCEPTIONS.includes(sentence))
        .flatMap((sentence) => wordsToAvoid(`${file}:${line}`, sentence)),
    );
}

function wordsToAvoid(place: string, sentence: string): string[] {
  return AVOID.filter(([word]) => isThere(word, sentence)).map(
    ([word, instead]) =>
      `${place}: "${word.exec(sentence)?.[0]}" in "${sentence}": write ${instead}`,
  );
}

/** Sentences that are still to be rewritten. Only ever made smaller. */
const LEFT = 1;

test('no comment, log message or error detail has a word to avoid', () => {
  if (FOUND.length > LEFT) expect(FOUND).toEqual([]);
});

test('the check reads comments and strings', () => {
  expect(sourceTexts(`const a = 'b'; // c\nconst d = \`e \${f('g')} h\`; /** i */`)).toEqual([
    { kind: 'string', text: 'b', line: 1 },
    { kind: 'comment', text: 'c', line: 1 },
    { kind: 'string', text: 'g', line: 2 },
    { kind: 'string', text: 'e … h', line: 2 },
    { kind: 'comment', text: 'i', line: 2 },
  ]);
});

const PAGES = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const MAX_SENTENCE = 25;
const MAX_PAGE = 2_500;
const wordsOf = (text: string) => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));

const prose = (page: string) =>
  readFileSync(join(ROOT, page), 'utf8').replace(/```[\s\S]*?```/g, '');

/** Sentences, with each list item, heading and cell of a table on its own, and with code as one word. */
const sentencesOf = (page: string) =>
  prose(page)
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/`[^`]*`/g, 'CODE')
    .replace(/\n(?!\s*(?:[-*|#]|\d+\.|\n))(?!\n)/g, ' ')
    .split(/\n+|\s\|\s|(?<=[.:!?;]\**)\s+/);

test.each(PAGES)('%s is plain English', (page) => {
  const sentences = sentencesOf(page);
  const long = sentences.filter((sentence) => wordsOf(sentence).length > MAX_SENTENCE);
  expect(long).toEqual([]);
  expect(sentences.flatMap((sentence) => wordsToAvoid(page, sentence))).toEqual([]);
  const outsideTables = prose(page).replace(/^ *\|.*$/gm, '');
  expect(wordsOf(outsideTables).length).toBeLessThanOrEqual(MAX_PAGE);
});
