/** Saves the state of a run now and then, never twice at once. */
import { type Checkpoint, saveCheckpoint } from './checkpoint';

const INTERVAL = 1_000;

export interface CheckpointWriter {
  /** Saves a last time, after which nothing is written any more. */
  stop(): Promise<void>;
}

/**
 * Saves at once, which shows early whether it can, and then once a second.
 *
 * @param path undefined: nothing is saved
 * @param state taken in one piece: what is done, and the counts of it
 * @param onError told of a save that failed; the run should end
 * @param onSave called before each save
 */
export async function startCheckpoints(
  path: string | undefined,
  state: () => Checkpoint,
  onError: (error: unknown) => void,
  onSave: () => void,
): Promise<CheckpointWriter> {
  if (path === undefined) return { stop: async () => undefined };
  let saving = saveCheckpoint(path, state());
  await saving;
  let idle = true;
  const timer = setInterval(() => {
    if (!idle) return;
    idle = false;
    onSave();
    saving = saveCheckpoint(path, state()).catch(onError);
    void saving.then(() => {
      idle = true;
    });
  }, INTERVAL);
  return {
    stop: async () => {
      clearInterval(timer);
      await saving;
      await saveCheckpoint(path, state());
    },
  };
}
