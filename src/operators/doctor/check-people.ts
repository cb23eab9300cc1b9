/** Checks the certificates of the people who are listed: who may not read the bot, and whose count for nothing. */
import type { Certificates, Trust } from '../../kernel/index.ts'
import type { CertificateStatus, Engine } from '../../openpgp/index.ts'
import { listFirst } from '../../printable.ts'
import { pass, warn, type CheckLine } from './check-line.ts'

export interface PeopleParts {
  trust: Pick<Trust, 'all'>
  certificates: Pick<Certificates, 'copyOf'>
  engine: Pick<Engine, 'judge'>
}

/** Certificates that are judged for one check. */
const MOST = 1000
/** Programs that were tried (openpgp/README.md). */
const PROGRAMS =
  'GnuPG 2.2, Sequoia and openpgp.js 6.3 read everything; rnp 0.16 and gosop refuse the bot’s certificate, PGPainless 1.3 its messages'
const COST = 'each message is 1,440 characters longer, and 1,570 for each person with such a subkey'
const PQC = 'ML-KEM-768+X25519'

interface PersonCopy {
  userId: number
  fingerprint: string
  status: CertificateStatus | null
}

/** @param isPqc the bot's key has a subkey of ML-KEM (`key.algorithm`) */
export async function checkPeople(parts: PeopleParts, isPqc: boolean): Promise<CheckLine[]> {
  const people: PersonCopy[] = []
  for (const { userId, listed: fingerprint } of parts.trust.all) {
    if (fingerprint === null || people.length === MOST) continue
    const copy = await parts.certificates.copyOf(fingerprint)
    const status = copy === null ? null : await parts.engine.judge(copy)
    people.push({ userId, fingerprint, status })
  }
  return [...(isPqc ? [pqcLine(people)] : []), ...sha1Lines(people)]
}

/** Counts people with such a subkey, whose programs read both, and names the others. */
function pqcLine(people: readonly PersonCopy[]): CheckLine {
  const without = people.filter(({ status }) => status?.algorithm !== PQC)
  const message = `key.algorithm is pqc: ${people.length - without.length} of ${people.length} people have such a subkey themselves; ${COST}`
  if (without.length === 0) return pass('post-quantum', message)
  return warn(
    'post-quantum',
    `${message}. Whether the programs of the others can read the bot’s key is unknown: ${listFirst(without.map(({ userId }) => userId))}`,
    `${PROGRAMS}; \`postern key rotate --algorithm classic\` goes back`,
  )
}

/** Names people whose certificates the setting `openpgp.acceptWeakHash` would let count. */
function sha1Lines(people: readonly PersonCopy[]): CheckLine[] {
  const weak = people.filter(({ status }) => status?.unusable === 'weak-hash')
  if (weak.length === 0) return []
  const whose = listFirst(weak.map(({ userId, fingerprint }) => `${userId} (${fingerprint})`))
  return [
    warn(
      'sha1',
      `the certificates of ${weak.length} of ${people.length} people are signed over SHA-1 or less, and nothing is sealed to them: ${whose}`,
      'they sign anew with the same key (`gpg --cert-digest-algo SHA512 --quick-set-expire FINGERPRINT never`) and publish it; the setting `openpgp.acceptWeakHash` lets those over SHA-1 count that it names',
    ),
  ]
}
