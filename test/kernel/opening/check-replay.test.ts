import { expect, test, vi } from 'vitest'
import type { Recognition, Sighting } from '../../../src/kernel/opening/seen-rules.ts'
import { ALLOWED, denied } from '../../../src/kernel/decision.ts'
import { checkReplay, type JudgedSighting } from '../../../src/kernel/opening/settle.ts'

const place = { chatId: 1, updateId: 2, messageId: 3, userId: 4, dateMs: 5 }
const sighting: JudgedSighting = {
  place,
  opened: { dataDigest: 'data', signatures: [{ digest: 'a' }, { digest: 'b' }] as never },
  judged: { verdict: 'verified', signatureDigest: 'b' },
  isForOtherChat: false,
}

function memory(recognition: Recognition) {
  return {
    recognize: vi.fn((_sighting: object, _claims: readonly string[]) =>
      Promise.resolve(recognition),
    ),
    remember: vi.fn((_sighting: Sighting, _as: string) => Promise.resolve()),
  }
}

const stands = () => ALLOWED

test('a message without a valid signature is remembered without one', async () => {
  const check = memory('new')
  await checkReplay(
    check,
    { ...sighting, judged: { verdict: 'unsigned' } },
    { verify: 'flag', stands },
  )
  expect(check.remember.mock.calls[0]?.[0].signatureDigest).toBeNull()
})

test('a message that is not delivered is not remembered', async () => {
  const unavailable = { verdict: 'signer-unavailable' } as const
  const old = { verdict: 'verified', reason: 'signed-long-before' } as const
  for (const [judged, verify, times] of [
    [unavailable, 'flag', 0],
    [unavailable, 'require', 0],
    [unavailable, 'off', 1],
    [old, 'flag', 1],
    [old, 'require', 0],
  ] as const) {
    const check = memory('new')
    expect(await checkReplay(check, { ...sighting, judged }, { verify, stands })).toBeUndefined()
    expect(check.remember).toHaveBeenCalledTimes(times)
  }
})

test.each([
  ['a replay', 'replayed', {}, {}, { verdict: 'replayed' }],
  ['a message as a file', 'words', {}, {}, { verdict: 'not-recipient' }],
  ['a message as a file, verified', 'words', {}, { verify: 'flag' }, {}],
  ['what was confirmed', 'confirmed', {}, {}, { reason: 'confirmed-before' }],
  ['its own words, confirmed', 'confirmed', {}, { isOwnWords: true }, { reason: 'own-words' }],
  ['the bot’s own words', 'new', {}, { isOwnWords: true }, { reason: 'own-words' }],
  ['its own words asked for again', 'again', {}, { isOwnWords: true }, { reason: 'own-words' }],
  ['for another chat', 'new', { isForOtherChat: true }, {}, { reason: 'other-audience' }],
  [
    'objected to',
    'again',
    {},
    { stands: () => denied({ verdict: 'bad-signature', reason: 'must-sign' } as const) },
    { verdict: 'bad-signature', reason: 'must-sign' },
  ],
] as const)(
  'a sighting of %s is refused and not remembered',
  async (_name, as, more, rules, refusal) => {
    const check = memory(as)
    const refused = await checkReplay(
      check,
      { ...sighting, ...more },
      { verify: 'off', stands, ...rules },
    )
    expect(refused).toEqual({ verdict: 'replayed', ...refusal })
    expect(check.remember).not.toHaveBeenCalled()
  },
)

test('a message delivered in this chat before is not for another chat', async () => {
  const check = memory('again')
  const again = { ...sighting, isForOtherChat: true }
  expect(await checkReplay(check, again, { verify: 'flag', stands })).toBeUndefined()
  expect(check.remember).toHaveBeenCalledTimes(1)
})
