/** What a run says when its client is paused. */
import type { MatterPushClientOptions } from '../../client/matter-push-client';
import { printable } from '../print';
import type { Tool } from '../tool';
import { PAUSED } from './push-work';

type OnRetry = NonNullable<MatterPushClientOptions['onRetry']>;

/** Says it once: a pause is for hours as a rule, and nobody should have to guess why nothing moves. */
export function tellPause(retries: number, { stderr }: Pick<Tool, 'stderr'>): OnRetry {
  let isTold = false;
  return ({ reason, message }, wait) => {
    if (isTold || reason !== PAUSED) return;
    isTold = true;
    const seconds = Math.round(wait / 1_000);
    stderr.write(
      `The client is paused: ${printable(message)}. Trying again every ${seconds} s or so, ${retries} times; then the run ends. Ctrl-C ends it now.\n`,
    );
  };
}
