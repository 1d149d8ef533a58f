/** How long each stage of one request took: for its line in the log, where LOG_REQUESTS is on. */

/** The stages of a request in `web`, in their order. `verify` is all that a query has. */
export const REQUEST_STAGES = ['verify', 'admit', 'log', 'wait'] as const;
export type RequestStage = (typeof REQUEST_STAGES)[number];

export interface StageTimes {
  /** This stage ends now; it began where the one before it ended. One that comes again takes both times. */
  mark(stage: RequestStage): void;
  /** Milliseconds, to a tenth, of those stages that ended. */
  read(): Partial<Record<RequestStage, number>>;
}

/** @param now milliseconds of a clock that never goes back */
export function createStageTimes(now: () => number = () => performance.now()): StageTimes {
  const times: Partial<Record<RequestStage, number>> = {};
  let last = now();
  return {
    mark(stage) {
      const at = now();
      times[stage] = Math.round(((times[stage] ?? 0) + at - last) * 10) / 10;
      last = at;
    },
    read: () => times,
  };
}
