/** What a signature is judged by, all of which allows it; and how a test asks. */
import type { FormerCertificate } from '../../../src/kernel/index.ts'
import { vi } from 'vitest'
import { SYSTEM_TIME } from '../../../src/util/clock.ts'
import type { ExamineParts } from '../../../src/kernel/opening/examine.ts'
import { agreeingClocks } from '../../support/judging-clock.ts'
import type { Person } from '../../../src/kernel/people/person.ts'
import type { SignatureClaim } from '../../../src/openpgp/engine.ts'
import { judgeSignatures } from '../../../src/kernel/opening/signatures.ts'
import type { Claimed, Judged } from '../../../src/kernel/opening/signatures.ts'

export const BOT = 1
export const ALICE = 5
export const OWN_FINGERPRINT = '0'.repeat(24) + 'b'.repeat(16)
export const FINGERPRINT = 'a'.repeat(40)
const person = { userId: ALICE, fingerprint: FINGERPRINT, unusable: null } as Person
export const alice: Person = {
  ...person,
  certificateStatus: { armored: 'certificate of Alice' } as Person['certificateStatus'],
}
export const claim: SignatureClaim = {
  issuerKeyId: 'a'.repeat(16),
  createdMs: 1000,
  intended: [],
  digest: 'digest',
}
const claimed: Claimed = {
  kind: 'words',
  chatId: 50,
  fromId: ALICE,
  dateMs: 1000,
  receivedAtMs: 7,
  signal: new AbortController().signal,
}

/** What is known, all of which allows what Alice signed; a test changes it. */
export function known() {
  return {
    verify: vi.fn((_signed: unknown, _certificate: string) => Promise.resolve(['valid'])),
    signer: vi.fn((_userId: number, _chatId: number, _sinceMs?: number) =>
      Promise.resolve<Person | null>(alice),
    ),
    mayAskAgain: false,
    askedInVain: vi.fn(),
    isOthers: (_pair: { userId: number; fingerprint: string }) => false,
    hasSigned: (_userId: number, _kind: string) => false,
    isBlocked: false,
    isVerified: false,
    isRemembered: false,
    isShared: false,
    policy: 'accept',
    distrust: null as string | null,
    former: null as FormerCertificate | null,
    formerCertificate: 'former certificate of Alice' as string | Error | null,
    reaches: true,
    /** The fingerprint of a certificate of which a revocation is known. */
    revoked: null as string | null,
  }
}

export function partsOf(all: ReturnType<typeof known>): ExamineParts {
  const parts = {
    engine: { verify: all.verify },
    directory: {
      signer: all.signer,
      mayAskAgain: () => all.mayAskAgain,
      askedInVain: all.askedInVain,
    },
    certificates: {
      isRevoked: (fingerprint: string) => fingerprint === all.revoked,
      copyOf: async () => {
        if (all.formerCertificate instanceof Error) throw all.formerCertificate
        return await Promise.resolve(all.formerCertificate)
      },
    },
    keyring: {
      fingerprints: new Set(['d'.repeat(40), OWN_FINGERPRINT]),
      unlocked: [{ fingerprints: [OWN_FINGERPRINT, 'c'.repeat(40)] }],
      all: [
        { certificate: 'old certificate of the bot', fingerprint: 'd'.repeat(40) },
        { certificate: 'certificate of the bot', fingerprint: OWN_FINGERPRINT },
      ],
    },
    people: { isOthers: all.isOthers, hasSigned: all.hasSigned },
    trust: {
      standingOf: () => (all.isBlocked ? 'blocked' : all.isVerified ? 'verified' : 'seen'),
      isRemembered: () => all.isRemembered,
      isShared: () => all.isShared,
      distrust: () => all.distrust,
      formerOf: () => all.former,
      policies: { for: () => all.policy },
    },
    knownChats: { personOf: () => null },
    botId: () => BOT,
    keyListMaxAgeMs: 60_000,
    replayMemory: { reaches: () => all.reaches },
    clock: agreeingClocks(),
    time: SYSTEM_TIME,
  }
  return parts as unknown as ExamineParts
}

/** Judges what has these claims, where some of what is known is otherwise. */
export async function judge(
  more: Partial<ReturnType<typeof known>> = {},
  { signatures = [claim], ...place }: Partial<Claimed> & { signatures?: SignatureClaim[] } = {},
): Promise<{ judged: Judged; all: ReturnType<typeof known> }> {
  const all = { ...known(), ...more }
  const opened = { signatures, signed: { document: new Uint8Array(), signatures: [] } }
  return { judged: await judgeSignatures(opened, { ...claimed, ...place }, partsOf(all)), all }
}
