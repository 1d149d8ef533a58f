/** The progress of a long search, on stderr. */
import type { Tool } from '../tool';
import type { Reached } from './first-entries';
import { localTime } from './local-time';

const INTERVAL = 2_000;

/** @returns to be told of each page; silent while the search is short */
export function createSearchProgress({ stderr, settings }: Tool): (reached: Reached) => void {
  const timeZone = settings.timeZone();
  let told = Date.now();
  return ({ found, next, place }) => {
    if (next === undefined || Date.now() - told < INTERVAL) return;
    told = Date.now();
    const from = place === undefined ? '' : ` from ${localTime(place, timeZone)}`;
    stderr.write(`${found} found, searching on${from}\n`);
  };
}
