/** The ceiling: everything up to and including validation, answered at once; nothing is written. */
import { serve } from './front';
import { runPeer } from './run-peer';

runPeer(async () => serve(async ({ id }) => ({ matterId: id, outcome: 'CREATED' })));
