import { describe, expect, test } from 'vitest'
import { NoResponseError } from '../../../src/errors.ts'
import { judgeReadable } from '../../../src/kernel/opening/before-key.ts'
import type { FoundMessage } from '../../../src/kernel/opening/find-messages.ts'
import { keyOf } from '../../support/double-phones.ts'
import { newPhone, useStage } from '../../support/double-stage.ts'
import { ALICE, BOT, FINGERPRINT, alice, known, partsOf } from './signatures-scene.ts'

/** Judges private words from before the key, where some of what is known is otherwise. */
async function judge(
  more: Partial<ReturnType<typeof known>>,
  fromId: number | null = ALICE,
  position: FoundMessage['position'] = 'top',
) {
  const parts = partsOf({ ...known(), ...more })
  Object.assign(parts.knownChats, { isPrivate: () => true, isLatched: () => false })
  Object.assign(parts.keyring, { firstPublishedAtMs: null })
  const found = { chatId: 50, fromId, dateMs: 1, position, message: { text: 'words' } }
  const arrival = { receivedAtMs: 7, signal: new AbortController().signal }
  return await judgeReadable(found as unknown as FoundMessage, arrival, parts)
}

test.each<[string, Partial<ReturnType<typeof known>>]>([
  ['of somebody whom the operator blocked', { isBlocked: true }],
  ['of somebody whom the operator verified', { isVerified: true }],
  [
    'of somebody who has ever signed',
    { hasSigned: (id, kind) => id === ALICE && kind === 'words' },
  ],
  ['of somebody whom the policy does not accept', { policy: 'pinned', distrust: 'not-accepted' }],
  [
    'of somebody whose certificate changed',
    { policy: 'first-use', isRemembered: true, distrust: 'key-changed' },
  ],
  [
    'under a certificate that is another’s',
    { policy: 'first-use', isOthers: ({ fingerprint }) => fingerprint === FINGERPRINT },
  ],
])('readable private words from before the key are withheld %s', async (_, more) => {
  expect(await judge(more)).toEqual({ verdict: 'plaintext-in-protected' })
})

test('readable private words from before the key are withheld without a sender, or an available certificate', async () => {
  expect(await judge({}, null)).toEqual({ verdict: 'plaintext-in-protected' })
  const { signer } = known()
  signer.mockRejectedValue(new NoResponseError('postern_upstream_timeout'))
  expect(await judge({ policy: 'first-use', signer })).toEqual({
    verdict: 'plaintext-in-protected',
    transientError: 'failed',
  })
})

test.each<[string, Partial<ReturnType<typeof known>>, number]>([
  ['anybody', {}, ALICE],
  ['somebody who signed files alone', { hasSigned: (_, kind) => kind === 'file' }, ALICE],
  [
    'somebody without a certificate at first use',
    { policy: 'first-use', signer: known().signer.mockResolvedValue(null) },
    ALICE,
  ],
  [
    'somebody whose certificate is as it was',
    { policy: 'pinned', signer: known().signer.mockResolvedValue(alice) },
    ALICE,
  ],
])('readable private words from before the key are delivered of %s', async (_, more, fromId) => {
  expect(await judge(more, fromId)).toEqual({ verdict: 'before-key' })
})

test('the bot’s own readable words from before the key are delivered in another Message alone', async () => {
  expect(await judge({}, BOT, 'carried')).toEqual({ verdict: 'before-key' })
  expect(await judge({}, BOT, 'top')).toMatchObject({ verdict: 'plaintext-in-protected' })
})

describe('with a sidecar', () => {
  const stage = useStage()

  test('a sidecar withholds early readable words once it opened a sealed message in the chat', async () => {
    const { world } = stage.double
    await using phone = await newPhone()
    const person = world.addUser(keyOf(phone))
    const chat = stage.privateChat(person)
    const early = () => world.message(chat, person, { text: 'early', date: Date.now() - 3_600_000 })
    const verdict = async (message: ReturnType<typeof early>): Promise<string> =>
      ((await stage.deliver([message]))[0] as { postern: { verdict: string } }).postern.verdict
    expect(await verdict(early())).toBe('before-key')
    const armored = await phone.sealUnsigned('sealed', [stage.botCertificate])
    expect(await verdict(world.message(chat, person, { armored }))).toBe('unsigned')
    expect(await verdict(early())).toBe('plaintext-in-protected')
  })
})
