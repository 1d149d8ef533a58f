/** What scripts/up.mjs hands over when the set-up is done. */
export interface RunContext {
  /** The project's folder. */
  root: string;
  /** Arguments of the command line, for jest. */
  args: string[];
  /** One progress line. */
  say(text: string): void;
  /** What a second npm start in this folder is told. */
  announce(text: string): void;
}

type Undo = () => Promise<void> | void;

/** Undoes what was started, last in first out, also when one of the steps fails. */
export class Releasers {
  private readonly steps: { undo: Undo; name?: string }[] = [];

  /** @param name gets the step a progress line */
  add(undo: Undo, name?: string): void {
    this.steps.push({ undo, name });
  }

  async run(tell: (text: string) => void): Promise<void> {
    for (const { undo, name } of this.steps.splice(0).reverse()) {
      if (name) tell(`Stopping ${name}`);
      try {
        await undo();
      } catch (error) {
        tell(`Stopping failed: ${error instanceof Error ? error.message : error}`);
      }
    }
  }
}
