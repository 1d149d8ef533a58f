/**
 * No queue: the web process writes the log entry, the matter, and the log entry again. With WRITES=off it writes
 * nothing and answers after the validation, which is the ceiling of HTTP.
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
