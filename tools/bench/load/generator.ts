/**
 * The process that pushes: as many connections as a round wants, each sending its next push as soon as
 * the last one was answered. Told what to do over IPC, a round at a time; see `run-round.ts`.
 */
import { type Round, runRound } from './run-round';
import type { Turning } from './window';

process.on('message', (round) => {
  const turning: Turning = (turn) => process.send?.({ turn });
  runRound(round as Round, turning).then(
    (result) => process.send?.({ result }),
    (error) => process.send?.({ error: error instanceof Error ? error.message : String(error) }),
  );
});
// Whoever started it ends the round in order; Ctrl-C reaches both.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit());
process.send?.({ ready: true });
