/** Answers that nothing was learned from, for tests of what takes or gives them. */
import { contentOf, Unseen } from '../../src/kernel/unseen.ts'
import { Sightings } from '../../src/kernel/sightings.ts'
import type { KnownChats } from '../../src/kernel/wall/known-chats.ts'
import type { PeopleObserver } from '../../src/kernel/people/observe.ts'
import { READERS } from '../../src/service/lookups/readers.ts'
import type { AnswerEnvelope } from '../../src/service/attempt.ts'

/** A call whose result is given as the client of the service gives it. */
export const unseen =
  <A extends unknown[]>(call: (...args: A) => Promise<unknown>) =>
  async (...args: A): Promise<Unseen> =>
    new Unseen(await call(...args))

/** An envelope with its content in the clear. */
export const plain = (envelope: AnswerEnvelope): unknown =>
  envelope.ok ? { ok: true, result: contentOf(envelope.result) } : envelope

/** Sightings over parts of which a test needs some. */
export const sightingsOf = (o: {
  knownChats?: Pick<KnownChats, 'saw' | 'get'>
  people?: Partial<PeopleObserver>
}): Sightings =>
  new Sightings({
    knownChats: o.knownChats as KnownChats,
    people: o.people as PeopleObserver,
    readers: READERS,
  })
