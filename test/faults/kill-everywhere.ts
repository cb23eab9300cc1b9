/** Every point at which what must not be lost can be struck: rotation, and the commands on secrets. */
import { canAttach, canTrace } from '../support/faults-strace.ts'
import { killAll } from './command-kills.ts'
import { endChecks, OPERATIONS } from './kill-operations.ts'
import { allStrikes, nameOf, strike } from './rotation-kills.ts'
import { RotationScene } from './rotation-scene.ts'
import { sampleOf } from './sample.ts'

/** What came of the points of one thing. */
interface Tally {
  tried: number
  broken: number
}

type Print = (line: string) => void

/**
 * Strikes at every point, or at so many of each kind, and says how many there were.
 * @returns the exit code: 1 when a promise was broken, or nothing can be traced here
 */
export async function killEverywhere({
  points,
  print,
}: {
  points: number
  print: Print
}): Promise<0 | 1> {
  if (!canTrace || !(await canAttach())) {
    print('strace is missing, or may not trace here: nothing can be killed at a system call')
    return 1
  }
  const tallies = [await strikeRotation(points, print)]
  for (const inject of ['signal=KILL', 'error=EIO', 'error=ENOSPC']) {
    for (const operation of OPERATIONS) {
      const { calls, tried, broken } = await killAll(operation, { points, inject })
      print(
        `${operation.name}, ${inject}: ${tried} of ${calls} points tried, ${broken.length} broken`,
      )
      for (const one of broken) print(`  ${one}`)
      tallies.push({ tried, broken: broken.length })
    }
  }
  await endChecks()
  const tried = tallies.reduce((sum, tally) => sum + tally.tried, 0)
  const broken = tallies.reduce((sum, tally) => sum + tally.broken, 0)
  print(`${tried} points tried, ${tried - broken} kept everything`)
  return broken === 0 ? 0 : 1
}

async function strikeRotation(points: number, print: Print): Promise<Tally> {
  await using scene = await RotationScene.set()
  const strikes = await allStrikes(scene)
  const tried = sampleOf(strikes, points)
  let [hits, broken] = [0, 0]
  for (const one of tried) {
    const { hit, breaches } = await strike(scene, one)
    if (hit) hits++
    if (breaches.length > 0) broken++
    for (const breach of breaches) print(`  ${nameOf(one)}: ${breach}`)
  }
  const reached = `${tried.length} of ${strikes.length} points tried, ${hits} of them reached`
  print(`rotation: ${reached}, ${broken} broken`)
  return { tried: tried.length, broken }
}
