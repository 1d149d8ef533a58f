/** The deadline of a call: the only one of the house. */

/**
 * @param ms milliseconds from now; below zero counts as zero
 * @param onTimeout called at the deadline, for the error to reject with
 * @param onFailure called where `call` fails in time, for the error to reject with; its own, where absent
 * @returns what `call` comes to, where it does so in time; later it is dropped, success or failure
 * @throws the error of `onTimeout` after `ms` milliseconds
 */
export function withTimeout<T>(
  call: Promise<T>,
  ms: number,
  onTimeout: () => Error = () => new Error(`no answer within ${ms} ms`),
  onFailure: (error: unknown) => unknown = (error) => error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(onTimeout()), Math.max(0, ms));
    call.then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
      },
      (error) => {
        clearTimeout(timer);
        reject(onFailure(error));
      },
    );
  });
}
