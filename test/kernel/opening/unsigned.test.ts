import { expect, test, vi } from 'vitest'
import { useFakeTime } from '../../support/fake-time.ts'
import { NoResponseError, ServiceError } from '../../../src/errors.ts'
import { ALICE, BOT, FINGERPRINT, judge } from './signatures-scene.ts'

useFakeTime({ toFake: ['performance'] })

const unsigned = { signatures: [] }

test('an unsigned message is accepted where nothing demands a signature', async () => {
  const { judged, all } = await judge({}, unsigned)
  expect(judged).toEqual({ verdict: 'unsigned' })
  expect(all.signer).not.toHaveBeenCalled()
})

test('an unsigned message in the bot’s name is bad', async () => {
  const { judged } = await judge({}, { ...unsigned, fromId: BOT })
  expect(judged).toEqual({ verdict: 'bad-signature', reason: 'unsigned' })
})

test('an unsigned message without a sender has an unknown signer', async () => {
  const { judged } = await judge({}, { ...unsigned, fromId: null })
  expect(judged).toEqual({ verdict: 'unknown-signer', reason: 'no-from' })
})

test('an unsigned message of a blocked person is refused first', async () => {
  const { judged } = await judge({ isBlocked: true, hasSigned: () => true }, unsigned)
  expect(judged).toEqual({ verdict: 'unknown-signer', reason: 'blocked' })
})

test.each(['words', 'file'] as const)(
  'an unsigned message of a person who has signed %s is bad for this kind alone',
  async (kind) => {
    const hasSigned = (userId: number, signed: string) => userId === ALICE && signed === kind
    const { judged } = await judge({ hasSigned }, { ...unsigned, kind })
    expect(judged).toEqual({ verdict: 'bad-signature', reason: 'stopped-signing' })
    const other = kind === 'words' ? 'file' : 'words'
    expect((await judge({ hasSigned }, { ...unsigned, kind: other })).judged).toEqual({
      verdict: 'unsigned',
    })
  },
)

test('unsigned words of a verified person are bad, and an unsigned file is not', async () => {
  const words = await judge({ isVerified: true }, unsigned)
  expect(words.judged).toEqual({ verdict: 'bad-signature', reason: 'must-sign' })
  const file = await judge({ isVerified: true }, { ...unsigned, kind: 'file' })
  expect(file.judged).toEqual({ verdict: 'unsigned' })
})

const none = { signer: vi.fn(() => Promise.resolve(null)) }

test('an unsigned message is refused under a policy that refuses the listed certificate', async () => {
  for (const policy of ['first-use', 'pinned']) {
    const { judged, all } = await judge({ policy, distrust: 'key-changed' }, unsigned)
    expect(judged).toEqual({ verdict: 'unknown-signer', reason: 'key-changed' })
    expect(all.signer.mock.calls).toEqual([[ALICE, 50, performance.now() - 60_000]])
  }
})

test('an unsigned message is accepted under a policy that trusts the listed certificate', async () => {
  const { judged } = await judge({ policy: 'first-use' }, unsigned)
  expect(judged).toEqual({ verdict: 'unsigned' })
})

test('an unsigned message is refused when the listed certificate is another person’s', async () => {
  const isOthers = ({ userId, fingerprint }: { userId: number; fingerprint: string }) =>
    userId === ALICE && fingerprint === FINGERPRINT
  const { judged } = await judge({ policy: 'pinned', isOthers }, unsigned)
  expect(judged).toEqual({ verdict: 'unknown-signer', reason: 'other-person' })
})

test('an unsigned message of a person without a certificate is accepted under first-use, and only then', async () => {
  const distrust = 'not-accepted'
  const first = await judge({ ...none, policy: 'first-use', distrust }, unsigned)
  expect(first.judged).toEqual({ verdict: 'unsigned' })
  const before = { ...none, policy: 'first-use', distrust, isRemembered: true }
  expect((await judge(before, unsigned)).judged.verdict).toBe('unknown-signer')
  const pinned = await judge({ ...none, policy: 'pinned', distrust }, unsigned)
  expect(pinned.judged).toEqual({ verdict: 'unknown-signer', reason: distrust })
  const listed = await judge({ policy: 'first-use', distrust }, unsigned)
  expect(listed.judged.verdict).toBe('unknown-signer')
})

test.each([
  ['a service that does not answer', new NoResponseError('postern_upstream_timeout'), 'failed'],
  ['a service that refuses', new ServiceError({ status: 404, code: 'not_found' } as never), null],
])(
  'an unsigned message is withheld while %s gives no certificate',
  async (_name, error, transientError) => {
    const signer = vi.fn(() => Promise.reject(error))
    const expected = {
      verdict: 'signer-unavailable',
      ...(transientError !== null && { transientError }),
    }
    expect((await judge({ signer, policy: 'pinned' }, unsigned)).judged).toEqual(expected)
    expect((await judge({ signer })).judged).toEqual(expected)
  },
)
