import { endChecks, OPERATIONS } from './kill-operations.ts'
import { canTrace, killAll } from './kills.ts'

/**
 * Kills every command on secrets at every point, and says how many there were.
 * @returns the exit code: 1 when a promise was broken, or nothing can be traced here
 */
export async function killEverywhere(say: (line: string) => void): Promise<0 | 1> {
  if (!canTrace) {
    say('strace is not installed: nothing can be killed at a system call')
    return 1
  }
  let failed = false
  for (const inject of ['signal=KILL', 'error=EIO', 'error=ENOSPC']) {
    for (const operation of OPERATIONS) {
      const { tried, broken } = await killAll(operation, { inject })
      say(
        `${operation.name}, ${inject}: ${tried - broken.length} of ${tried} points kept everything`,
      )
      for (const one of broken) say(`  ${one}`)
      failed ||= broken.length > 0
    }
  }
  await endChecks()
  return failed ? 1 : 0
}
