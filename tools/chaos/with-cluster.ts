/** A cluster for as long as a piece of work takes, in a folder that goes with it. */
import { type Cluster, type ClusterOptions, startCluster } from './cluster';
import { inFolder } from './folder';

interface WithClusterOptions extends Omit<ClusterOptions, 'folder'> {
  /** Told where the logs are, where they stay. */
  readonly say: (text: string) => void;
}

/** One web process and two workers: enough to measure, and to lose one. */
export const SMALL = { webs: 1, workers: 2 };

/** @param work may ask for the logs to be kept; they are, where it throws */
export function withCluster<T>(
  options: WithClusterOptions,
  work: (cluster: Cluster, keepLogs: () => void) => Promise<T>,
): Promise<T> {
  return inFolder(options, async (folder, keepLogs) => {
    const cluster = await startCluster({ ...options, folder });
    try {
      return await work(cluster, keepLogs);
    } finally {
      await cluster.stop();
    }
  });
}
