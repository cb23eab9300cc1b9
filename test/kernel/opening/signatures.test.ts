import { describe, expect, test, vi } from 'vitest'
import { OperatorError, Refusal, isOwnFailure } from '../../../src/errors.ts'
import type { Person } from '../../../src/kernel/people/person.ts'
import { whyNotAnyMore } from '../../../src/kernel/opening/sender-rules.ts'
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

describe('what is signed', () => {
  const VERIFIED = {
    verdict: 'verified',
    signer: FINGERPRINT,
    signedAtMs: claim.createdMs,
    signatureDigest: 'digest',
  }

  test('is verified against the certificate of its sender alone, as it is known', async () => {
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
  ])('was signed %s: %s gives the reason %s', async (_name, dateMs, reason) => {
    for (const isShared of [false, true]) {
      const { judged } = await judge({ isShared }, { dateMs })
      const otherwise = isShared ? 'shared-certificate' : undefined
      expect([judged.verdict, judged.reason]).toEqual(['verified', reason ?? otherwise])
    }
  })

  test('of a file may be signed long ago, since a file may be asked for at any time', async () => {
    const { judged } = await judge({}, { kind: 'file', dateMs: null })
    expect(judged).toEqual(VERIFIED)
  })

  test('by nobody is by an unknown signer', async () => {
    const { judged } = await judge({}, { fromId: null })
    expect(judged).toEqual({ verdict: 'unknown-signer', reason: 'no-from' })
  })

  test('is verified by the one signature among several that is valid', async () => {
    const verify = vi.fn(() => Promise.resolve(['invalid', 'valid']))
    const signatures = [
      { ...claim, intended: ['somebody'] },
      { ...claim, digest: 'second' },
    ]
    const { judged } = await judge({ verify }, { signatures })
    expect(judged).toEqual({ ...VERIFIED, signatureDigest: 'second' })
  })

  test('is verified by what is known, and the service is not asked for more', async () => {
    const { judged, all } = await judge({ mayAskAgain: true })
    expect([judged, all.signer.mock.calls.length]).toEqual([VERIFIED, 1])
  })

  test('is bad when no signature is valid, and the service is not asked again in vain', async () => {
    const verify = vi.fn(() => Promise.resolve(['invalid']))
    const { judged, all } = await judge({ verify })
    expect(judged).toEqual({ verdict: 'bad-signature' })
    expect([all.signer.mock.calls.length, all.askedInVain.mock.calls.length]).toEqual([1, 0])
  })

  test('is verified by a certificate that is listed since', async () => {
    const verify = vi.fn((_signed: unknown, certificate: string) =>
      Promise.resolve([certificate === 'certificate of Alice' ? 'valid' : 'invalid']),
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

  test('is bad when the certificate that is listed since verifies it neither, which is remembered', async () => {
    const verify = vi.fn(() => Promise.resolve(['invalid']))
    const { judged, all } = await judge({ verify, mayAskAgain: true })
    expect(judged).toEqual({ verdict: 'bad-signature' })
    expect(all.askedInVain.mock.calls).toEqual([[ALICE, 50]])
  })

  test('is by an unknown signer when nobody is listed, or nothing that verifies', async () => {
    const useless = { ...alice, unusable: 'unparseable' } as Person
    for (const one of [null, useless]) {
      const signer = vi.fn(() => Promise.resolve(one))
      expect((await judge({ signer })).judged).toEqual({ verdict: 'unknown-signer' })
    }
  })

  test('is not by somebody who lists the bot’s certificate', async () => {
    const signer = vi.fn(() => Promise.resolve({ ...alice, fingerprint: OWN_FINGERPRINT }))
    const { judged, all } = await judge({ signer })
    expect(judged).toEqual({ verdict: 'unknown-signer', reason: 'own-key' })
    expect(all.verify).not.toHaveBeenCalled()
  })

  test('is not by somebody who put the bot’s key into a certificate of theirs', async () => {
    const signatures = [{ ...claim, issuerKeyId: 'b'.repeat(16) }]
    const { judged } = await judge({}, { signatures })
    expect(judged).toEqual({ verdict: 'unknown-signer', reason: 'own-key' })
  })

  test('is verified though its signature names no key', async () => {
    const { judged } = await judge({}, { signatures: [{ ...claim, issuerKeyId: null }] })
    expect(judged).toEqual(VERIFIED)
  })

  test('is not by somebody whose certificate is another person’s', async () => {
    const isOthers = ({ userId, fingerprint }: { userId: number; fingerprint: string }) =>
      userId === ALICE && fingerprint === FINGERPRINT
    const { judged, all } = await judge({ isOthers })
    expect(judged).toEqual({ verdict: 'unknown-signer', reason: 'other-person' })
    expect(all.verify).not.toHaveBeenCalled()
  })

  test('is not by somebody who awaits the operator’s decision', async () => {
    const { judged } = await judge({ distrust: 'blocked' })
    expect(judged).toEqual({ verdict: 'unknown-signer', reason: 'blocked' })
  })

  test('is replayed when it is older than the memory, unless the same was opened here before', async () => {
    const { judged } = await judge({ reaches: false })
    expect(judged).toEqual({ verdict: 'replayed', reason: 'older-than-memory' })
    expect((await judge({ reaches: false }, { isKnown: true })).judged).toEqual(VERIFIED)
    expect((await judge({ reaches: false }, { isKnown: false })).judged.verdict).toBe('replayed')
  })

  test('by a certificate that several list says so', async () => {
    const { judged } = await judge({ isShared: true })
    expect(judged).toEqual({ ...VERIFIED, reason: 'shared-certificate' })
  })
})

describe('what names its recipients', () => {
  const forOthers = { ...claim, intended: ['e'.repeat(40)] }
  const forUs = { ...claim, intended: ['e'.repeat(40), 'c'.repeat(40)] }
  const NOT_OURS = { verdict: 'not-recipient', reason: 'intended-for-others' }

  test('is not ours when the bot is none of them, also where nothing is valid', async () => {
    const verify = vi.fn(() => Promise.resolve(['invalid']))
    expect((await judge({}, { signatures: [forOthers] })).judged).toEqual(NOT_OURS)
    expect((await judge({ verify }, { signatures: [claim, forOthers] })).judged).toEqual(NOT_OURS)
  })

  test('is ours when a subkey of the bot is one of them', async () => {
    expect((await judge({}, { signatures: [forUs] })).judged.verdict).toBe('verified')
  })
})

describe('the bot’s own messages', () => {
  const own = { fromId: BOT }

  test('are verified against every key that was ever the bot’s, and shared with nobody', async () => {
    const verify = vi.fn((_signed: unknown, certificate: string) =>
      Promise.resolve(['invalid', certificate === 'certificate of the bot' ? 'valid' : 'invalid']),
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

  test('are bad when no key of the bot’s has signed them', async () => {
    const verify = vi.fn(() => Promise.resolve(['invalid']))
    expect((await judge({ verify }, own)).judged).toEqual({ verdict: 'bad-signature' })
  })
})

describe('what was judged some time ago', () => {
  const place = { fromId: ALICE, chatId: 50, kind: 'words' as const }
  const verified: Judged = { verdict: 'verified', signer: FINGERPRINT }
  const now = (judged: Judged, more: Partial<ReturnType<typeof known>>, where = place) =>
    whyNotAnyMore(judged, where, partsOf({ ...known(), ...more }))

  test('stands while nothing else was learned', () => {
    for (const judged of [verified, { verdict: 'unsigned' } as const]) {
      expect(now(judged, {})).toBeNull()
    }
  })

  test.each([
    ['has signed', { hasSigned: () => true }, 'bad-signature', 'stopped-signing'],
    ['was verified', { isVerified: true }, 'bad-signature', 'must-sign'],
    ['was blocked', { isBlocked: true }, 'unknown-signer', 'blocked'],
  ] as const)('does not stand unsigned once the person %s', (_, more, verdict, reason) => {
    expect(now({ verdict: 'unsigned' }, more)).toEqual({ verdict, reason })
  })

  test('does not stand verified once the operator distrusts it, or knows whose it is', () => {
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

  test('is asked about neither by nobody, nor of the bot, nor where it was refused anyway', () => {
    const more = { distrust: 'blocked', hasSigned: () => true }
    expect(now(verified, more, { ...place, fromId: null as unknown as number })).toBeNull()
    for (const judged of [verified, { verdict: 'unsigned' } as const]) {
      expect(now(judged, more, { ...place, fromId: BOT })).toBeNull()
    }
    expect(now({ verdict: 'bad-signature', signer: FINGERPRINT }, more)).toBeNull()
    expect(now({ verdict: 'verified' }, more)).toBeNull()
  })
})

describe('what was signed before the certificate changed', () => {
  const former = { fingerprint: 'f'.repeat(40), changedAtMs: claim.createdMs, wasPinned: true }
  const by = (certificate: string) =>
    vi.fn((_signed: unknown, used: string) =>
      Promise.resolve([used === certificate ? 'valid' : 'bad']),
    )
  const verify = by('former certificate of Alice')

  test('verifies by the one before, after the listed one was asked for afresh', async () => {
    const { judged, all } = await judge({ verify, former, mayAskAgain: true })
    expect(judged).toMatchObject({
      verdict: 'verified',
      reason: 'former-certificate',
      signer: former.fingerprint,
    })
    expect(all.signer).toHaveBeenCalledTimes(2)
  })

  test('is bad a second later, or where none is kept, or where it is ours or another person’s', async () => {
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

  test('is not judged where the store fails to give the one before', async () => {
    for (const formerCertificate of [
      new Refusal('postern_store_unwritable'),
      new OperatorError('store-corrupt', 'damaged'),
    ]) {
      const judging = judge({ verify, former, formerCertificate })
      await expect(judging).rejects.toBe(formerCertificate)
      expect(isOwnFailure(formerCertificate)).toBe(true)
    }
  })

  test('is not looked for where the listed certificate could not be had, or is nobody’s', async () => {
    const signer = vi.fn(() => Promise.resolve(null))
    expect((await judge({ verify, former, signer })).judged).toEqual({ verdict: 'unknown-signer' })
  })

  test('stands as long as the former certificate does', () => {
    const judged: Judged = { verdict: 'verified', signer: former.fingerprint }
    const place = { fromId: ALICE, chatId: 50, kind: 'words' as const }
    const now = (one: typeof former | null) =>
      whyNotAnyMore(judged, place, partsOf({ ...known(), distrust: 'key-changed', former: one }))
    expect(now(former)).toBeNull()
    expect(now({ ...former, fingerprint: 'e'.repeat(40) })?.reason).toBe('key-changed')
    expect(now(null)?.reason).toBe('key-changed')
  })
})
