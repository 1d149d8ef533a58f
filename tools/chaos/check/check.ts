/** Checks the evidence of a run against the promises. Pure. */
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
 * @returns all violations. One defect of the service may break several rules
 * @throws Error if the callers of the run sent the same body for two operations
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

/** Checks one matter at a time, because the states of a hot matter need much memory. */
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
