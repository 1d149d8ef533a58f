/**
 * No queue: the web process itself writes the log, the matter, and the log again. With WRITES=off it
 * is the ceiling: everything up to and including validation, answered at once.
 */
import { runPeer, servePeer } from './front';
import { connectLedger } from './ledger';

runPeer(async () => {
  if (process.env.WRITES === 'off') {
    return servePeer(async ({ id }) => ({ matterId: id, outcome: 'CREATED' }));
  }
  const ledger = await connectLedger();
  servePeer(async (push) => {
    await ledger.log(push);
    return ledger.apply(push);
  });
});
