/** What scripts/up.mjs passes to `npm start` and `npm test` after the set-up. */
export interface RunContext {
  /** The folder of the project. */
  root: string;
  /** Arguments of the command line, for jest. */
  args: string[];
  /** Prints a line of progress. */
  say(text: string): void;
  /** Stores the text that a second `npm start` in this folder prints. */
  announce(text: string): void;
}

type Undo = () => Promise<void> | void;

/** Undoes all steps of a start in reverse order, even if one of them fails. */
export class Releasers {
  private readonly steps: { undo: Undo; name?: string }[] = [];

  /** @param name if set, the step has a line of progress */
  add(undo: Undo, name?: string): void {
    this.steps.push({ undo, name });
  }

  async run(say: (text: string) => void): Promise<void> {
    for (const { undo, name } of this.steps.splice(0).reverse()) {
      if (name) say(`Stopping ${name}`);
      try {
        await undo();
      } catch (error) {
        say(`Stopping failed: ${error instanceof Error ? error.message : error}`);
      }
    }
  }
}
