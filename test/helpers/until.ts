/** For what happens soon, by itself; the deadline is for a machine that is busy. @returns whether it did */
export async function until(condition: () => boolean, deadlineMs = 20_000): Promise<boolean> {
  const deadline = Date.now() + deadlineMs
  while (!condition() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20))
  return condition()
}
