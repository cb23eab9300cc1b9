import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canAttach } from '../support/faults-strace.ts'
import { allStrikes, nameOf, strike, type Strike, type Struck } from './rotation-kills.ts'
import { RotationScene } from './rotation-scene.ts'
import { sampleOf } from './sample.ts'

const SAMPLE = 2
const whole = 'npm run faults -- --kills has them all'

/** Skipped where processes cannot be traced: no strace, or no right to. */
describe.skipIf(!(await canAttach()))(
  `a rotation with a kill or an error at a system call (${SAMPLE} of them; ${whole})`,
  () => {
    let scene: RotationScene
    let strikes: Strike[]
    const struck: Struck[] = []

    beforeAll(async () => {
      scene = await RotationScene.set()
      strikes = await allStrikes(scene)
    }, 240_000)
    afterAll(() => scene[Symbol.asyncDispose]())

    test('a rotation makes many system calls with an effect on files or sockets', () => {
      expect(strikes.length).toBeGreaterThan(10 * SAMPLE)
    })

    test('a rotation with a fault at a system call loses no key and no message, and publishes one key', async () => {
      for (const one of sampleOf(strikes, SAMPLE)) {
        const result = await strike(scene, one)
        expect(result.breaches, nameOf(one)).toEqual([])
        struck.push(result)
      }
    }, 600_000)

    test('half of the system calls with a fault, or more, were reached', () => {
      expect(struck.filter(({ hit }) => hit).length).toBeGreaterThanOrEqual(SAMPLE / 2)
    })
  },
)
