/** The ceiling: everything up to and including validation, answered at once; nothing is written. */
import { serve } from './front';

serve(async ({ id }) => ({ matterId: id, outcome: 'CREATED' }));
