/** A request that cannot be carried out; the message says why and what to do. */
export class DirectoryError extends Error {
  override readonly name = 'DirectoryError';
}

export const unknownClient = (clientId: string) =>
  new DirectoryError(`there is no client ${clientId}`);
