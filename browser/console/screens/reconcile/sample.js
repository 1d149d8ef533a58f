/** An example of a file. The page makes it, with column names in the language of the user. */
import { csvOf, download } from '../../kit/save-csv.js';
import { say } from '../../kit/speech.js';
import { RECONCILE } from './words.js';

export const sampleText = () =>
  csvOf(
    say(RECONCILE.sampleLines)
      .split('\n')
      .map((line) => line.split(',')),
  );

export const saveSample = () => download('sample.csv', [sampleText()]);
