/** @returns the HTTP status alone. The answer is read to its end: an unread one keeps its connection. */
export async function statusOf(url: string | URL): Promise<number> {
  const answer = await fetch(url);
  await answer.text();
  return answer.status;
}
