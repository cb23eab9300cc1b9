/**
 * Does one step for each of so many things, `atOnce` of them side by side.
 * @throws what the first step throws that fails; none is begun after it
 */
export async function eachAtOnce(
  { count, atOnce }: { count: number; atOnce: number },
  step: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) {
      try {
        await step(next++)
      } catch (error) {
        next = count
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, lane))
}
