/** Makes trouble of one kind, one after the other, in an order that follows from chance. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../support/faults-random.ts'
import { during, type History, type Trouble } from './history.ts'

/** Each trouble with what makes it and ends it again. */
export type Makes = readonly (readonly [Trouble, (random: Random) => Promise<void> | undefined])[]

/** The troubles of a table, made on something. */
export const makesOn = <On>(
  on: On,
  table: Partial<Record<Trouble, (on: On, random: Random) => Promise<void>>>,
): Makes =>
  Object.entries(table).map(([name, make]) => [name as Trouble, (random) => make(on, random)])

/** @param o `longestCalmMs` between one trouble and the next; ends when `enough` is aborted */
export async function track(
  history: History,
  o: { makes: Makes; random: Random; longestCalmMs: number; enough: AbortSignal },
): Promise<void> {
  while (!o.enough.aborted) {
    for (const [name, make] of o.random.shuffled(o.makes)) {
      const random = o.random.fork()
      const calmMs = random.between(100, o.longestCalmMs)
      await pause(calmMs, undefined, { signal: o.enough }).catch(() => {})
      if (o.enough.aborted) return
      await during(history, name, async () => await make(random))
    }
  }
}
