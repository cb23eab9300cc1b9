/** What holds whatever the service claims: generated senders, chats, updates and orders. */
import { expect, test } from 'vitest'
import { deliversText } from '../../../src/kernel/opening/finding.ts'
import type { MessageFinding, NumberedMessage } from '../../../src/kernel/opening/finding.ts'
import { settle, type SettleParts } from '../../../src/kernel/opening/settle.ts'
import { VERDICTS, type Verdict } from '../../../src/kernel/opening/verdict.ts'
import { runs } from '../../support/chance.ts'
import { agreeingClocks } from '../../support/judging-clock.ts'
import { fc } from '../../support/property.ts'
import { BOT, NOW_MS, found } from './examine-scene.ts'
import { replayMemoryInMap } from './seen-scene.ts'
import { claim, judge, alice } from './signatures-scene.ts'

const [ALICE, MALLORY] = [5, 6]
/** A private chat of Alice's. */
const PRIVATE = 50

/** One Message of an update, as a service might bring it. */
interface Delivery {
  data: string
  signature: string
  verdict: Verdict
  kind: 'opened' | 'closed'
  isForOtherChat: boolean
  chatId: number
  fromId: number | null
  messageId: number | null
  updateId: number
  position: 'top' | 'carried'
  /** Up to where the bot confirms updates afterwards; 0: it does not. */
  confirmedBelow: number
}

const verdicts = fc.constantFrom(...(Object.keys(VERDICTS) as Verdict[]))
const deliveries: fc.Arbitrary<Delivery> = fc.record({
  data: fc.constantFrom('data 1', 'data 2', 'data 3'),
  signature: fc.constantFrom('signature 1', 'signature 2'),
  verdict: fc.oneof(verdicts, fc.constantFrom<Verdict>('verified', 'unsigned')),
  kind: fc.constantFrom('opened', 'opened', 'opened', 'closed'),
  isForOtherChat: fc.nat(7).map((n) => n === 0),
  chatId: fc.constantFrom(PRIVATE, 60),
  fromId: fc.constantFrom(ALICE, MALLORY, null),
  messageId: fc.constantFrom(1, 2, null),
  updateId: fc.integer({ min: 1, max: 3 }),
  position: fc.constantFrom('top', 'top', 'carried'),
  confirmedBelow: fc.constantFrom(0, 0, 2, 3),
})

function findingOf(one: Delivery): MessageFinding {
  if (one.kind === 'closed') return { kind: 'closed', verdict: one.verdict }
  const isSigned = one.verdict !== 'unsigned'
  const isVerified = one.verdict === 'verified'
  const signatures = isSigned ? [{ digest: one.signature }] : []
  const judged = {
    verdict: one.verdict,
    ...(isVerified && { signer: `of ${one.fromId}`, signatureDigest: one.signature }),
  }
  const opened = { dataDigest: one.data, signatures, text: 'words', openedWith: 'own' }
  const finding = { kind: 'opened', opened, judged, isForOtherChat: one.isForOtherChat }
  return finding as unknown as MessageFinding
}

function numbered(one: Delivery): NumberedMessage {
  const { chatId, fromId, messageId, updateId, position } = one
  const place = { chatId, updateChatId: chatId, fromId, messageId, position, dateMs: NOW_MS }
  return { found: found({ armored: 'x' }, place), finding: findingOf(one), ms: 0, updateId }
}

async function partsInMap(): Promise<SettleParts & { confirm: (below: number) => Promise<void> }> {
  const signers = new Set<number>()
  const replayMemory = await replayMemoryInMap()
  const parts = {
    people: {
      isOthers: () => false,
      hasSigned: (userId: number) => signers.has(userId),
      rememberSigned: (all: number[]) => Promise.resolve(all.forEach((one) => signers.add(one))),
    },
    trust: { distrust: () => null, formerOf: () => null, standingOf: () => 'seen' },
    knownChats: { personOf: (chatId: number) => (chatId === PRIVATE ? ALICE : null) },
    guard: { mustSeal: () => true },
    botId: () => BOT,
    clock: agreeingClocks(),
    replayMemory,
    verify: 'flag',
    confirm: (below: number) => replayMemory.confirmed.record(below),
  }
  return parts as never
}

/** Settles batch after batch. @returns the deliveries whose text the bot gets, with their verdicts */
async function givenOf(batches: Delivery[][]): Promise<(Delivery & { final: Verdict })[]> {
  const parts = await partsInMap()
  const given: (Delivery & { final: Verdict })[] = []
  for (const batch of batches) {
    const all = batch.map((one) => [numbered(one)])
    const settled = (await settle(all, parts, () => Promise.resolve())).flat()
    for (const [index, one] of batch.entries()) {
      const { finding, final = null } = settled[index] ?? {}
      if (finding == null || final === null || !deliversText(finding, final, 'flag')) continue
      given.push({ ...one, final: final.verdict })
    }
    await parts.confirm(Math.max(0, ...batch.map(({ confirmedBelow }) => confirmedBelow)))
  }
  return given
}

const batches = fc.array(fc.array(deliveries, { minLength: 1, maxLength: 4 }), { maxLength: 5 })
const distinct = (all: unknown[]): number => new Set(all.filter((one) => one !== null)).size

test('data that was delivered is delivered again only as the same Message', async () => {
  await fc.assert(
    fc.asyncProperty(batches, async (all) => {
      for (const same of Map.groupBy(await givenOf(all), ({ data }) => data).values()) {
        expect(distinct(same.map(({ chatId }) => chatId))).toBe(1)
        expect(distinct(same.map(({ fromId }) => String(fromId)))).toBe(1)
        expect(distinct(same.map(({ messageId }) => messageId))).toBeLessThanOrEqual(1)
        const brought = same.filter(({ position }) => position === 'top')
        expect(distinct(brought.map(({ updateId }) => updateId))).toBeLessThanOrEqual(1)
      }
    }),
    { numRuns: runs(300) },
  )
})

test('a signature verifies in one chat and for one person only', async () => {
  await fc.assert(
    fc.asyncProperty(batches, async (all) => {
      const verified = (await givenOf(all)).filter(({ final }) => final === 'verified')
      for (const same of Map.groupBy(verified, ({ signature }) => signature).values()) {
        expect(distinct(same.map(({ chatId, fromId }) => `${chatId} ${fromId}`))).toBe(1)
      }
    }),
    { numRuns: runs(300) },
  )
})

test('a person who has signed is not delivered unsigned afterwards, nor a stranger in a private chat', async () => {
  await fc.assert(
    fc.asyncProperty(batches, async (all) => {
      const signed = new Set<number | null>()
      for (const { chatId, fromId, final, data } of await givenOf(all)) {
        if (chatId === PRIVATE) expect(fromId).not.toBe(MALLORY)
        if (final === 'verified') signed.add(fromId)
        if (final === 'unsigned' && fromId !== null) {
          expect({ data, hasSigned: signed.has(fromId) }).toEqual({ data, hasSigned: false })
        }
      }
    }),
    { numRuns: runs(300) },
  )
})

test('a signature verifies for no claimed sender but its signer', async () => {
  const people = fc.constantFrom(ALICE, MALLORY, BOT, null)
  await fc.assert(
    fc.asyncProperty(people, people, fc.integer({ min: 50, max: 52 }), async (by, as, chatId) => {
      const { judged } = await judge(
        {
          verify: ((_signed: unknown, certificate: string) =>
            Promise.resolve([
              certificate === `certificate of ${by}` ? 'valid' : 'invalid',
            ])) as never,
          signer: ((userId: number) =>
            Promise.resolve({
              ...alice,
              userId,
              certificateStatus: { armored: `certificate of ${userId}` },
            })) as never,
        },
        { fromId: as, chatId, signatures: [claim] },
      )
      // the bot's own certificates are none of these
      expect(judged.verdict === 'verified').toBe(as !== null && as !== BOT && as === by)
    }),
    { numRuns: runs(100) },
  )
})
