/** How a peer lives: until its channel closes, whoever started it being gone or done with it. */
import { runMain } from '../../../src/runtime/lifecycle';

export function runPeer(main: () => Promise<void>): void {
  process.on('disconnect', () => process.exit());
  process.on('SIGTERM', () => process.exit());
  runMain(main);
}
