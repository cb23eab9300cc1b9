/** A rotation, struck at one system call after the other (SECURITY, 4: 1 to 8, 24, 26). */
import { randomUUID } from 'node:crypto'
import type { SidecarProcess } from '../support/sidecar-process.ts'
import { pointsIn, Tracer, wasHit, type Effect, type Point } from '../support/faults-strace.ts'
import type { RotationScene } from './rotation-scene.ts'

/** A point with what happens there. */
export interface Strike {
  at: Point
  effect: Effect
}

export interface Struck extends Strike {
  /** The sidecar came to that call. */
  hit: boolean
  breaches: string[]
}

const SENDS = 3

/**
 * Every strike there is, from a rotation that goes well: a kill at each call
 * that can be seen from outside, a failure of each write and fsync.
 */
export async function allStrikes(scene: RotationScene): Promise<Strike[]> {
  await scene.reset()
  const sidecar = await scene.start()
  const tracer = await Tracer.attach(sidecar.pid)
  await act(scene, sidecar)
  const points = pointsIn(await tracer.detach())
  await sidecar.stop('SIGKILL')
  return points.flatMap((at): Strike[] => [
    { at, effect: 'SIGKILL' },
    ...(/^f(data)?sync$/.test(at.name) ? [{ at, effect: 'EIO' } as const] : []),
    ...(at.name === 'pwrite64' ? [{ at, effect: 'ENOSPC' } as const] : []),
  ])
}

/** Lets a rotation begin anew, strikes it, starts the sidecar again and judges what is there. */
export async function strike(scene: RotationScene, { at, effect }: Strike): Promise<Struck> {
  const since = await scene.reset()
  const written = [await scene.write()]
  const sidecar = await scene.start()
  const tracer = await Tracer.attach(sidecar.pid, { at, effect })
  const sends = await act(scene, sidecar)
  written.push(await scene.write())
  await sidecar.stop('SIGKILL')
  const hit = wasHit(await tracer.detach(), at)
  try {
    const again = await scene.start()
    written.push(await scene.write())
    const breaches = await scene.judge(again, { since, written, sends })
    await again.stop('SIGKILL')
    return { at, effect, hit, breaches }
  } catch (error) {
    return { at, effect, hit, breaches: [`it does not go on: ${String(error)}`] }
  }
}

/** A rotation with sends in flight. @returns the sends */
async function act(scene: RotationScene, sidecar: SidecarProcess) {
  const sends = Array.from({ length: SENDS }, () => {
    const sendId = randomUUID()
    return { sendId, text: `answer ${sendId}` }
  })
  const sending = scene.send(sidecar, sends)
  await scene.rotate(sidecar)
  await sending
  return sends
}

/** For people. */
export const nameOf = ({ at, effect }: Strike): string => `${effect} at ${at.name} #${at.nth}`
