const { default: Sequencer } = require('@jest/test-sequencer');

/** Whether a test starts processes: then it takes seconds, of which it waits the most. */
const isLong = ({ path }) => /\.e2e\.test\.ts$|[/\\]integration[/\\]/.test(path);

/**
 * Long files first, so that none of them runs alone at the end. Jest does that by the durations of
 * the last run; this is for a fresh clone, where it knows nothing but sizes.
 */
module.exports = class LongFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const known = sorted.some(({ duration }) => duration !== undefined);
    return known ? sorted : [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
};
