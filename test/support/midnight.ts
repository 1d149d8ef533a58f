/** Keeps midnight out of tests that plant pushes and later search for them as pushes of today or of yesterday. */
import { setTimeout as sleep } from 'node:timers/promises';
import { dayAt } from '../../src/protocol/local-day';

const PORTAL_ZONE = 'Asia/Shanghai';
/** Three hours behind the portal. */
const OTHER_ZONE = 'Asia/Tashkent';
const MINUTE = 60_000;
/** Longer than any test file takes. */
const FILE_TIME = 120 * MINUTE;
/** Longer than the tests that share a service need. */
const SHORT_FILE_TIME = 2 * MINUTE;

/** Milliseconds until midnight in the zone of the portal. */
const timeLeft = () => {
  const now = Date.now();
  return dayAt(now, PORTAL_ZONE).end - now;
};

/**
 * For a service of the test's own, as its PORTAL_TIME_ZONE.
 *
 * @returns a time zone in which the day lasts for two more hours
 */
export const zoneFarFromMidnight = () => (timeLeft() > FILE_TIME ? PORTAL_ZONE : OTHER_ZONE);

/** For a shared service, whose time zone is fixed: if midnight is less than two minutes away, waits until it has passed. */
export async function untilFarFromMidnight(): Promise<void> {
  const left = timeLeft();
  // Timers may end a moment early.
  if (left <= SHORT_FILE_TIME) await sleep(left + 1_000);
}
