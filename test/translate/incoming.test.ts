import { SYSTEM_TIME } from '../../src/util/clock.ts'
import { describe, expect, test, vi } from 'vitest'
import { Clocks } from '../../src/lookups/clocks.ts'
import { ALICE, BOT, MALLORY, sealed } from '../kernel/opening/examine-scene.ts'
import {
  CERTIFICATE,
  SIGNED,
  claim,
  openedAs,
  scene,
  signedBy,
  update,
  verdictOf,
  type Json,
} from './incoming-scene.ts'

describe('what is opened', () => {
  test('is delivered in place, recorded as seen, and told of', async () => {
    const { incoming, all, told } = scene({ open: signedBy() })
    const one = update({}, 9)
    expect(await incoming.open([one])).toEqual({ updates: [one], changed: true })
    expect(one.message).toMatchObject({
      text: 'words',
      postern: { opened: true, verdict: 'verified', signer: CERTIFICATE },
    })
    const sighting = {
      chatId: 50,
      updateId: 9,
      messageId: 3,
      userId: ALICE,
      dateMs: 1000,
      dataDigest: 'data',
      signatureDigest: 'statement',
    }
    expect(all.recognized.mock.calls).toEqual([[sighting, ['statement']]])
    expect(all.remember.mock.calls).toEqual([[sighting, 'new']])
    expect(all.rememberSigned.mock.calls).toEqual([[[ALICE], 'words']])
    expect(told).toEqual([
      [
        expect.objectContaining({
          updateId: 9,
          chatId: 50,
          verdict: 'verified',
          delivered: true,
          openedWith: 'own key',
        }),
      ],
    ])
  })

  test.each(['9', 1.5, undefined])(
    'of an update that has no number (%j) is recorded under 0',
    async (updateId) => {
      const { incoming, all } = scene({ open: openedAs() })
      await incoming.open([{ ...update(), updateId }])
      expect(all.recognized.mock.calls[0]?.[0]).toMatchObject({ updateId: 0 })
    },
  )

  test('and stands in a quotation is recorded under no update', async () => {
    const { incoming, all } = scene({ open: openedAs() })
    const quoted = { ...sealed, id: 2, chat: { id: 50 }, from: { id: ALICE } }
    await incoming.open([update({ replyTo: quoted }, 8)])
    expect(all.recognized.mock.calls.map(([sighting]) => sighting)).toMatchObject([
      { updateId: 8, messageId: 3 },
      { updateId: null, messageId: 2 },
    ])
  })

  test.each([
    [true, 'words'],
    [false, ' words\r\n\u0007'],
  ])('reads as any text of the service does: %s', async (normalizeText, text) => {
    const opened = { ...SIGNED, text: ' words\r\n\u0007' }
    const one = update()
    await scene({ open: openedAs(opened) }, { normalizeText }).incoming.open([one])
    expect(one.message['text']).toBe(text)
  })

  test('is withheld where the memory knows it as something else, and nobody has signed it', async () => {
    const { incoming, all, told } = scene({ open: signedBy() })
    all.recognized.mockResolvedValue('replayed')
    const one = update()
    await incoming.open([one])
    expect(one.message).toMatchObject({ ...sealed, postern: { opened: true, verdict: 'replayed' } })
    expect(one.message).not.toHaveProperty('text')
    expect([all.remember.mock.calls, all.rememberSigned.mock.calls]).toEqual([[], [[[], 'words']]])
    expect(told[0]?.[0]).toMatchObject({ verdict: 'replayed', delivered: false })
  })

  test('and brought as the bot’s own new message is withheld, and in a quotation it is not', async () => {
    const { incoming } = scene({ open: signedBy() })
    const from = { id: BOT }
    const brought = update({ from })
    const quoting = update({ replyTo: { ...sealed, id: 2, chat: { id: 50 }, from } })
    await incoming.open([brought, quoting])
    expect(verdictOf(brought)).toMatchObject({ verdict: 'replayed', reason: 'own-words' })
    const { replyTo } = quoting.message as { replyTo: Json }
    expect(replyTo['postern']).toMatchObject({ verdict: 'verified' })
  })

  const SIGNATURE = { ...SIGNED, signatures: [claim] }
  test.each([
    ['after what its person signed is withheld', SIGNATURE, SIGNED, 'verified', 'bad-signature'],
    ['before what its person signs is delivered', SIGNED, SIGNATURE, 'unsigned', 'verified'],
    ['after a replay is delivered', SIGNATURE, SIGNED, 'replayed', 'unsigned'],
  ])('unsigned %s in one batch', async (_, one, other, ...verdicts) => {
    const open = vi.fn(openedAs()).mockResolvedValueOnce(one).mockResolvedValueOnce(other)
    const { incoming, all } = scene({ open })
    if (verdicts[0] === 'replayed') all.recognized.mockResolvedValueOnce('replayed')
    const both = [update(), update({ id: 4 })]
    await incoming.open(both)
    expect(both.map((message) => verdictOf(message)['verdict'])).toEqual(verdicts)
    const reason = verdicts[1] === 'bad-signature' ? 'stopped-signing' : undefined
    expect(both.map((message) => verdictOf(message)['reason'])).toEqual([undefined, reason])
  })

  test.each<[string, (all: ReturnType<typeof scene>['all']) => unknown, boolean, object]>([
    [
      'blocked',
      ({ distrust }) => distrust.mockReturnValue('blocked'),
      true,
      { verdict: 'unknown-signer', reason: 'blocked' },
    ],
    [
      'known to sign',
      (all) => (all.hasSigned = true),
      false,
      { verdict: 'bad-signature', reason: 'stopped-signing' },
    ],
    [
      'a stranger there',
      (all) => (all.personId = MALLORY),
      true,
      { verdict: 'bad-signature', reason: 'other-person' },
    ],
  ])('is withheld where its sender is %s since it was examined', async (...given) => {
    const [, learn, isSigned, verdict] = given
    const { incoming, all } = scene({ open: isSigned ? signedBy() : openedAs() })
    all.batch.mockImplementation(async (judge) => {
      learn(all)
      return await judge({ recognize: all.recognized, remember: all.remember })
    })
    const one = update()
    await incoming.open([one])
    expect(verdictOf(one)).toMatchObject(verdict)
    if (isSigned) expect(all.distrust).toHaveBeenLastCalledWith(ALICE, CERTIFICATE, 50)
  })

  test('and signed each time is verified each time', async () => {
    const { incoming, all } = scene({ open: signedBy() })
    const [first, second] = [update(), update({ id: 4 })]
    await incoming.open([first, second])
    for (const one of [first, second]) expect(verdictOf(one)['verdict']).toBe('verified')
    expect(all.rememberSigned.mock.calls).toEqual([[[ALICE], 'words']])
  })

  test('makes nobody a signer who did not sign it', async () => {
    const open = vi
      .fn(openedAs())
      .mockResolvedValueOnce(SIGNED)
      .mockResolvedValueOnce({ outcome: 'damaged' })
    const { incoming, all } = scene({ open })
    await incoming.open([update(), update({ id: 4 })])
    expect(all.rememberSigned.mock.calls).toEqual([[[], 'words']])
  })

  test('in the bot’s name by somebody else is bad, whatever brings it', async () => {
    const { incoming, all } = scene({ open: signedBy() })
    all.verdict = ['invalid']
    const one = update({ from: { id: BOT } })
    await incoming.open([one])
    expect(verdictOf(one)).toEqual({ opened: true, verdict: 'bad-signature' })
  })
})

test('updates stay at the service while neither clock can be right', async () => {
  const clock = new Clocks(SYSTEM_TIME, () => null)
  clock.passed(Date.now() + 60_000)
  const { incoming, all } = scene({}, { clock })
  const one = update()
  await expect(incoming.open([one])).rejects.toMatchObject({ code: 'postern_clock_wrong' })
  expect([all.open, all.batch].map((asked) => asked.mock.calls.length)).toEqual([0, 0])
  expect(one).not.toHaveProperty('message.postern')
})
