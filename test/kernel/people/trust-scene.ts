/** What is known of people in a store, for tests of trust. */
import type { TrustPolicy } from '../../../src/kernel/index.ts'
import { agreeingClocks } from '../../support/judging-clock.ts'
import { Journal, type TrustChange } from '../../../src/kernel/people/journal.ts'
import { People } from '../../../src/kernel/people/people.ts'
import { Trust, type TrustParts } from '../../../src/kernel/people/trust.ts'
import type { Store } from '../../../src/store/store.ts'
import { open, temporary } from '../../store/support.ts'
import { loadKeyChanges } from '../../../src/translate/key-changes.ts'
import { memoryOf } from '../../../src/store/memory.ts'

export const [A, B, C] = ['a'.repeat(40), 'b'.repeat(40), 'c'.repeat(40)]
export const of = <F extends string | null>(userId: number, fingerprint: F) => ({
  userId,
  fingerprint,
})
/** @param o `store` one of before; an empty one unless told */
export async function trusting(
  o: {
    store?: Store
    policy?: TrustPolicy
    maxPeople?: number
    firstUse?: TrustParts['firstUse']
    clocks?: TrustParts['clocks']
  } = {},
) {
  const store = o.store ?? (await open(temporary()))
  const changes: TrustChange[] = []
  const journal = new Journal(memoryOf(store))
  journal.onChange((change) => changes.push(change))
  const people = await People.load(memoryOf(store))
  const { policy = 'accept' } = o
  const bound = o.maxPeople === undefined ? {} : { maxPeople: o.maxPeople }
  const trust = await Trust.load({
    memory: memoryOf(store),
    journal,
    people,
    policy,
    clocks: o.clocks ?? agreeingClocks(),
    ...(o.firstUse !== undefined && { firstUse: o.firstUse }),
    ...bound,
  })
  const { policies } = trust
  const keyChanges = await loadKeyChanges({ memory: memoryOf(store), journal, policies })
  return { store, trust, people, changes, keyChanges }
}
