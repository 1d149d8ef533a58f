const { default: Sequencer } = require('@jest/test-sequencer');

/** Whether a test starts processes: then it takes seconds, of which it waits the most. */
const isLong = ({ path }) => /\.e2e\.test\.ts$|[/\\]integration[/\\]/.test(path);

/** Half of all soak tests: begun late, they run alone for minutes in the end. */
const isLongest = ({ path }) => /[/\\]soak[/\\]chaos[^/\\]*\.e2e\.test\.ts$/.test(path);

/** Those that come first, before the others. */
const rank = (test) => (isLongest(test) ? 0 : isLong(test) ? 1 : 2);

/**
 * Long files first, so that none of them runs alone at the end. Jest does that by the durations of
 * the last run; this is for a fresh clone, where it knows nothing but sizes.
 */
module.exports = class LongFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const known = sorted.some(({ duration }) => duration !== undefined);
    return known ? sorted : sorted.sort((a, b) => rank(a) - rank(b));
  }
};
