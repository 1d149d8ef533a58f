/** Holds what a run has seen against what was promised: pure, from evidence to violations. */
import { checkAnswers, checkRejections } from './answers';
import { checkBatches } from './batches';
import type { Evidence, Violation } from './evidence';
import { checkSenders, checkSettled } from './log-entries';
import { collectMatters, type MatterCase } from './matter-cases';
import { checkMatterIds, checkOneEffect } from './one-effect';
import { checkPlacement, checkRealTime } from './placement';
import { indexPushes } from './pushes';
import { checkQueueOrder } from './queue-order';
import { foldMatter } from './sequential-fold';
import { checkLeftovers, checkServiceTimes } from './service-times';

/**
 * @returns every violation; none where the run kept all promises. One fault of the service may
 *   break several rules
 * @throws Error where the callers of the run sent the same body for two operations
 */
export function check(evidence: Evidence): Violation[] {
  const pushes = indexPushes(evidence);
  return [
    ...checkAnswers(evidence.history, pushes),
    ...checkRejections(evidence.history, pushes.operations),
    ...checkBatches(evidence.history, pushes),
    ...checkSenders(pushes.all),
    ...collectMatters(evidence, pushes.all).flatMap(checkMatter),
    ...checkOneEffect(pushes),
    ...checkMatterIds(evidence, pushes),
    ...checkSettled(pushes.all),
    ...checkServiceTimes(evidence),
    ...checkLeftovers(evidence.leftovers),
  ];
}

/** One matter at a time: the states of a hot one are many, and go before the next one comes. */
function checkMatter(matter: MatterCase): Violation[] {
  const { effects, context } = matter;
  const { violations, states } = foldMatter(matter);
  return [
    ...violations,
    ...checkRealTime(effects, context.externalId),
    ...(states ? checkPlacement(matter, states) : []),
    ...checkQueueOrder(matter, states),
  ];
}
