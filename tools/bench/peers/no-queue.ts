/**
 * No queue: the web process writes the log entry, the matter, and the log entry again. With WRITES=off it answers
 * right after the validation and writes nothing: no design with the same checks can be faster.
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
