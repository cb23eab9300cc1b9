/** What rests in memory at one sidecar, when several tables were changed at another. */
import { agreeingClocks } from '../../support/judging-clock.ts'
import { describe, expect, test } from 'vitest'
import { Journal } from '../../../src/kernel/people/journal.ts'
import { People } from '../../../src/kernel/people/people.ts'
import { Trust } from '../../../src/kernel/people/trust.ts'
import type { Store } from '../../../src/store/store.ts'
import { Registration } from '../../../src/updates/registration.ts'
import { hasPostgres } from '../../support/postgres.ts'
import { pair } from './scene.ts'
import { memoryOf } from '../../../src/store/memory.ts'

const describeIt = describe.skipIf(!hasPostgres())

async function trustOver(store: Store): Promise<{ trust: Trust; people: People }> {
  const [journal, people] = [new Journal(memoryOf(store)), await People.load(memoryOf(store))]
  const trust = await Trust.load({
    memory: memoryOf(store),
    journal,
    people,
    policy: 'first-use',
    clocks: agreeingClocks(),
  })
  return { trust, people }
}

describeIt('changes in several tables at once', () => {
  test('a webhook secret and a protection that change together are read with the new protection', async () => {
    const { one, two } = await pair({ passphrase: 'old', protection: 'passphrase' })
    const [mine, theirs] = [await Registration.load(one), await Registration.load(two)]
    await mine.set({ url: 'https://a.example/', secret: 'first' })
    await two.fresh()
    await mine.set({ url: 'https://b.example/', secret: 'second' })
    await one.move({ method: 'none' }, async (locked) => locked)
    await two.fresh()
    expect(theirs.webhook).toMatchObject({ url: 'https://b.example/', secret: 'second' })
  })

  test('`Trust.epoch` changes again after the last followed table was read', async () => {
    const { one, two } = await pair()
    const [mine, theirs] = [await trustOver(one), await trustOver(two)]
    const fingerprint = 'a'.repeat(40)
    await mine.trust.saw([5, 6].map((userId) => ({ userId, fingerprint })))
    await two.fresh()
    // a choice of recipients that is made in between is not kept for later ones
    const between: { epoch: number; isOthers: boolean }[] = []
    const note = async (): Promise<void> => {
      const isOthers = theirs.people.isOthers({ userId: 6, fingerprint })
      between.push({ epoch: theirs.trust.epoch.value, isOthers })
    }
    for (const table of ['pins', 'certificates'] as const) two.follow(table, note)
    await mine.trust.decisions.accept(5, fingerprint)
    await two.fresh()
    expect(theirs.people.isOthers({ userId: 6, fingerprint })).toBe(true)
    const before = between.filter(({ isOthers }) => !isOthers).map(({ epoch }) => epoch)
    expect(before).not.toContain(theirs.trust.epoch.value)
  })
})
