/** No queue: the web process itself writes the log, the matter, and the log again. */
import { serve } from './front';
import { connectLedger } from './ledger';
import { runPeer } from './run-peer';

runPeer(async () => {
  const ledger = await connectLedger();
  serve(async (push) => {
    await ledger.log(push);
    return ledger.apply(push);
  });
});
