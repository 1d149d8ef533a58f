/** jest's globalTeardown: ends what `shared-host.ts` started. */
export default async function close(): Promise<void> {
  await (globalThis as { closeShared?: () => Promise<void> }).closeShared?.();
}
