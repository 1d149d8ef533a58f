/**
 * What the services of a test file logged while a test failed: their warnings and errors often say why.
 * `jest-environment.cjs` adds it to the errors of the test.
 */
const { readFileSync } = require('node:fs');

/** Lines that are shown: the first ones are nearest to the cause. */
const MOST = 20;
/** Characters of a line. */
const LONGEST = 600;
const LEVELS = new Set(['warn', 'error', 'fatal', 40, 50, 60]);

/** @param files logs of JSON lines @param since epoch milliseconds @returns a line each, the oldest first */
function troubleIn(files, since) {
  return [...files]
    .flatMap((file) => linesOf(file))
    .filter(({ level, at }) => LEVELS.has(level) && at >= since)
    .sort((a, b) => a.at - b.at)
    .slice(0, MOST)
    .map(({ text }) => text.slice(0, LONGEST));
}

function linesOf(file) {
  return readText(file)
    .split('\n')
    .flatMap((text) => {
      try {
        const { level, time } = JSON.parse(text);
        return [{ text, level, at: new Date(time).getTime() }];
      } catch {
        // Whatever else a process prints is no line of its log.
        return [];
      }
    });
}

/** A service that has stopped has taken its log with it. */
function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

module.exports = { troubleIn };
