/** Waits for something that happens soon; the deadline is for a busy machine. @returns whether it happened */
export async function until(condition: () => boolean | Promise<boolean>, deadlineMs = 20_000): Promise<boolean> {
  const deadline = Date.now() + deadlineMs
  while (!(await condition()) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20))
  return condition()
}
