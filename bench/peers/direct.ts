/** No queue: the ingress itself writes the log, the matter, and the log again. */
import { runMain } from '../../src/lifecycle';
import { serve } from './front';
import { connectLedger } from './ledger';

runMain(async () => {
  const ledger = await connectLedger();
  serve(async (push) => {
    await ledger.log(push);
    return ledger.apply(push);
  });
});
