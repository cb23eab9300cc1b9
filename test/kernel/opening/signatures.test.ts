import { describe, expect, test, vi } from 'vitest'
import { OperatorError, Refusal, isOwnFailure } from '../../../src/errors.ts'
import type { Person } from '../../../src/kernel/people/person.ts'
import { deniedReason } from '../../../src/kernel/decision.ts'
import { mayStand } from '../../../src/kernel/opening/sender-rules.ts'
import type { Judged } from '../../../src/kernel/opening/signatures.ts'
import {
  ALICE,
  BOT,
  FINGERPRINT,
  OWN_FINGERPRINT,
  alice,
  claim,
  judge,
  known,
  partsOf,
} from './signatures-scene.ts'

const HOUR_MS = 3_600_000

describe('a signed message', () => {
  const VERIFIED = {
    verdict: 'verified',
    signer: FINGERPRINT,
    signedAtMs: claim.createdMs,
    signatureDigest: 'digest',
  }

  test('a signature is verified against the known certificate of the sender alone', async () => {
    const { judged, all } = await judge()
    expect(judged).toEqual(VERIFIED)
    expect(all.signer.mock.calls).toEqual([[ALICE, 50]])
    expect(all.verify.mock.calls[0]?.[1]).toBe('certificate of Alice')
  })

  test.each([
    ['72 hours before its date', claim.createdMs + 72 * HOUR_MS, undefined],
    ['a moment more before its date', claim.createdMs + 72 * HOUR_MS + 1, 'signed-long-before'],
    ['after its date', claim.createdMs - 1000 * HOUR_MS, undefined],
    ['long ago, without a date', null, 'signed-long-before'],
  ])('a message signed %s: %s gives the reason %s', async (_name, dateMs, reason) => {
    for (const isShared of [false, true]) {
      const { judged } = await judge({ isShared }, { dateMs })
      const otherwise = isShared ? 'shared-certificate' : undefined
      expect([judged.verdict, judged.reason]).toEqual(['verified', reason ?? otherwise])
    }
  })

  const listed = (more: Partial<Person> | null) =>
    vi.fn(() => Promise.resolve(more && { ...alice, ...more }))
  const isOthers = ({ userId, fingerprint }: { userId: number; fingerprint: string }) =>
    userId === ALICE && fingerprint === FINGERPRINT
  const OLD = { verdict: 'replayed', reason: 'older-than-memory' }
  const unknown = (reason: string) => ({ verdict: 'unknown-signer', reason })

  test.each<[string, Partial<ReturnType<typeof known>>, Parameters<typeof judge>[1], object]>([
    ['without a sender', {}, { fromId: null }, unknown('no-from')],
    ['without a listed certificate', { signer: listed(null) }, {}, { verdict: 'unknown-signer' }],
    [
      'with an unparseable certificate',
      { signer: listed({ unusable: 'unparseable' }) },
      {},
      { verdict: 'unknown-signer' },
    ],
    [
      'by the bot’s key',
      {},
      { signatures: [{ ...claim, issuerKeyId: 'b'.repeat(16) }] },
      unknown('own-key'),
    ],
    ['without an issuer', {}, { signatures: [{ ...claim, issuerKeyId: null }] }, VERIFIED],
    ['of a blocked person', { distrust: 'blocked' }, {}, unknown('blocked')],
    [
      'of a shared certificate',
      { isShared: true },
      {},
      { ...VERIFIED, reason: 'shared-certificate' },
    ],
    ['older than the memory', { reaches: false }, { isKnown: false }, OLD],
    ['older than the memory, opened here before', { reaches: false }, { isKnown: true }, VERIFIED],
    ['long ago on a file', {}, { kind: 'file', dateMs: null }, VERIFIED],
  ])('a signature %s gives its verdict', async (_, more, place, verdict) => {
    expect((await judge(more, place)).judged).toEqual(verdict)
  })

  test.each<[string, Partial<ReturnType<typeof known>>]>([
    ['own-key', { signer: listed({ fingerprint: OWN_FINGERPRINT }) }],
    ['other-person', { isOthers }],
  ])('a signature is not verified against a certificate listed as %s', async (reason, more) => {
    const { judged, all } = await judge(more)
    expect(judged).toEqual(unknown(reason))
    expect(all.verify).not.toHaveBeenCalled()
  })

  test('a message is verified by the one valid signature among several', async () => {
    const verify = vi.fn(() => Promise.resolve(['invalid', 'valid']))
    const signatures = [
      { ...claim, intended: ['somebody'] },
      { ...claim, digest: 'second' },
    ]
    const { judged } = await judge({ verify }, { signatures })
    expect(judged).toEqual({ ...VERIFIED, signatureDigest: 'second' })
  })

  test('a message without a valid signature is bad, and requests no certificate in vain', async () => {
    const verify = vi.fn(() => Promise.resolve(['bad']))
    const { judged, all } = await judge({ verify })
    expect(judged).toEqual({ verdict: 'bad-signature' })
    expect([all.signer.mock.calls.length, all.askedInVain.mock.calls.length]).toEqual([1, 0])
  })

  test('a signature that its key made and that does not count is the reason beside the verdict', async () => {
    const verify = vi.fn(() => Promise.resolve(['bad', 'not-valid-then']))
    const { judged } = await judge({ verify }, { signatures: [claim, claim] })
    expect(judged).toEqual({ verdict: 'bad-signature', reason: 'not-valid-then' })
  })

  test('a message is verified by a certificate that was listed since', async () => {
    const verify = vi.fn((_signed: unknown, certificate: string) =>
      Promise.resolve([certificate === 'certificate of Alice' ? 'valid' : 'bad']),
    )
    const former = { ...alice, certificateStatus: { armored: 'former' } } as Person
    const signer = vi.fn((_userId: number, _chatId: number, sinceMs?: number) =>
      Promise.resolve(sinceMs === undefined ? former : alice),
    )
    const { judged, all } = await judge({ verify, signer, mayAskAgain: true })
    expect(judged).toEqual(VERIFIED)
    expect(signer.mock.calls[1]).toEqual([ALICE, 50, 7])
    expect(all.askedInVain).not.toHaveBeenCalled()
  })

  test('a message that the fresh certificate does not verify is bad, and the vain request is remembered', async () => {
    const verify = vi.fn(() => Promise.resolve(['bad']))
    const { judged, all } = await judge({ verify, mayAskAgain: true })
    expect(judged).toEqual({ verdict: 'bad-signature' })
    expect(all.askedInVain.mock.calls).toEqual([[ALICE, 50]])
  })
})

describe('a message that names its recipients', () => {
  const forOthers = { ...claim, intended: ['e'.repeat(40)] }
  const forUs = { ...claim, intended: ['e'.repeat(40), 'c'.repeat(40)] }
  const NOT_OURS = { verdict: 'not-recipient', reason: 'intended-for-others' }

  test('a message with other intended recipients is not the bot’s, also without a valid signature', async () => {
    const verify = vi.fn(() => Promise.resolve(['bad']))
    expect((await judge({}, { signatures: [forOthers] })).judged).toEqual(NOT_OURS)
    expect((await judge({ verify }, { signatures: [claim, forOthers] })).judged).toEqual(NOT_OURS)
  })

  test('a message intended for a subkey of the bot is verified', async () => {
    expect((await judge({}, { signatures: [forUs] })).judged.verdict).toBe('verified')
  })
})

describe('the bot’s own messages', () => {
  const own = { fromId: BOT }

  test('the bot’s own message is verified against every key of the bot, and never as shared', async () => {
    const verify = vi.fn((_signed: unknown, certificate: string) =>
      Promise.resolve(['invalid', certificate === 'certificate of the bot' ? 'valid' : 'bad']),
    )
    const signatures = [claim, { ...claim, digest: 'second' }]
    const { judged, all } = await judge({ verify, isShared: true }, { ...own, signatures })
    expect(judged).toEqual({
      verdict: 'verified',
      signer: OWN_FINGERPRINT,
      signedAtMs: claim.createdMs,
      signatureDigest: 'second',
    })
    expect(all.signer).not.toHaveBeenCalled()
  })

  test('the bot’s own message without a valid signature is bad', async () => {
    const verify = vi.fn(() => Promise.resolve(['bad']))
    expect((await judge({ verify }, own)).judged).toEqual({ verdict: 'bad-signature' })
  })
})

describe('an earlier verdict', () => {
  const place = { fromId: ALICE, chatId: 50, kind: 'words' as const }
  const verified: Judged = { verdict: 'verified', signer: FINGERPRINT }
  const now = (judged: Judged, more: Partial<ReturnType<typeof known>>, where = place) =>
    deniedReason(mayStand(judged, where, partsOf({ ...known(), ...more })))

  test('an earlier verdict stays while nothing new is known', () => {
    for (const judged of [verified, { verdict: 'unsigned' } as const]) {
      expect(now(judged, {})).toBeUndefined()
    }
  })

  test.each([
    ['has signed', { hasSigned: () => true }, 'bad-signature', 'stopped-signing'],
    ['was verified', { isVerified: true }, 'bad-signature', 'must-sign'],
    ['was blocked', { isBlocked: true }, 'unknown-signer', 'blocked'],
  ] as const)(
    'an earlier verdict of unsigned is void once the person %s',
    (_, more, verdict, reason) => {
      expect(now({ verdict: 'unsigned' }, more)).toEqual({ verdict, reason })
    },
  )

  test('an earlier verdict of verified is void once the certificate is distrusted, or another person’s', () => {
    expect(now(verified, { distrust: 'blocked' })).toEqual({
      verdict: 'unknown-signer',
      reason: 'blocked',
    })
    const isOthers = ({ userId, fingerprint }: { userId: number; fingerprint: string }) =>
      userId === ALICE && fingerprint === FINGERPRINT
    expect(now(verified, { isOthers })).toEqual({
      verdict: 'unknown-signer',
      reason: 'other-person',
    })
  })

  test('an earlier verdict of the bot’s own words, of a sender unknown, or of a refusal is not judged again', () => {
    const more = { distrust: 'blocked', hasSigned: () => true }
    expect(now(verified, more, { ...place, fromId: null as unknown as number })).toBeUndefined()
    for (const judged of [verified, { verdict: 'unsigned' } as const]) {
      expect(now(judged, more, { ...place, fromId: BOT })).toBeUndefined()
    }
    expect(now({ verdict: 'bad-signature', signer: FINGERPRINT }, more)).toBeUndefined()
    expect(now({ verdict: 'verified' }, more)).toBeUndefined()
  })
})

describe('a message signed before the certificate changed', () => {
  const former = { fingerprint: 'f'.repeat(40), changedAtMs: claim.createdMs, wasPinned: true }
  const by = (certificate: string) =>
    vi.fn((_signed: unknown, used: string) =>
      Promise.resolve([used === certificate ? 'valid' : 'bad']),
    )
  const verify = by('former certificate of Alice')

  test('a message is not verified by a former certificate later, without a copy, or of another owner', async () => {
    const later = { ...former, changedAtMs: claim.createdMs - 1 }
    for (const more of [
      { former: later },
      { former: null },
      { former, formerCertificate: null },
      { former: { ...former, fingerprint: OWN_FINGERPRINT } },
      {
        former,
        isOthers: ({ fingerprint }: { fingerprint: string }) => fingerprint.startsWith('f'),
      },
    ]) {
      expect((await judge({ verify, ...more })).judged).toEqual({ verdict: 'bad-signature' })
    }
  })

  test('a message has no verdict when the store fails to read the former certificate', async () => {
    for (const formerCertificate of [
      new Refusal('postern_store_unwritable'),
      new OperatorError('store-corrupt', 'damaged'),
    ]) {
      const judging = judge({ verify, former, formerCertificate })
      await expect(judging).rejects.toBe(formerCertificate)
      expect(isOwnFailure(formerCertificate)).toBe(true)
    }
  })

  test('a message of a sender without a certificate is not verified by a former one', async () => {
    const signer = vi.fn(() => Promise.resolve(null))
    expect((await judge({ verify, former, signer })).judged).toEqual({ verdict: 'unknown-signer' })
  })

  test('an earlier verdict by a former certificate is void once another certificate is the former one', () => {
    const judged: Judged = { verdict: 'verified', signer: former.fingerprint }
    const place = { fromId: ALICE, chatId: 50, kind: 'words' as const }
    const now = (one: typeof former | null) =>
      deniedReason(
        mayStand(judged, place, partsOf({ ...known(), distrust: 'key-changed', former: one })),
      )
    expect(now(former)).toBeUndefined()
    expect(now({ ...former, fingerprint: 'e'.repeat(40) })?.reason).toBe('key-changed')
    expect(now(null)?.reason).toBe('key-changed')
  })
})
