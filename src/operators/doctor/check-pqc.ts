/** Checks a bot's key with a subkey of ML-KEM (`key.algorithm`): people who may not read it, and its size. */
import type { Certificates, Trust } from '../../kernel/index.ts'
import type { Engine } from '../../openpgp/index.ts'
import { pass, warn, type CheckLine } from './check-line.ts'

export interface PqcParts {
  trust: Pick<Trust, 'all'>
  certificates: Pick<Certificates, 'copyOf'>
  engine: Pick<Engine, 'judge'>
}

/** Certificates that are judged for one check. */
const MOST = 1000
/** People named in the line. */
const NAMED = 10
/** Programs that were tried (openpgp/README.md). */
const PROGRAMS =
  'GnuPG 2.2, Sequoia and openpgp.js 6.3 read everything; rnp 0.16 and gosop refuse the bot’s certificate, PGPainless 1.3 its messages'
const COST = 'each message is 1,440 characters longer, and 1,570 for each person with such a subkey'
const PQC = 'ML-KEM-768+X25519'

/** Counts people with such a subkey, whose programs read both, and names the others. */
export async function checkPqc({ trust, certificates, engine }: PqcParts): Promise<CheckLine[]> {
  const listed = trust.all.filter(({ listed: one }) => one !== null)
  const without: number[] = []
  for (const { userId, listed: fingerprint } of listed.slice(0, MOST)) {
    const copy = await certificates.copyOf(fingerprint ?? '')
    const status = copy === null ? null : await engine.judge(copy)
    if (status?.algorithm !== PQC) without.push(userId)
  }
  const counted = Math.min(listed.length, MOST)
  const message = `key.algorithm is pqc: ${counted - without.length} of ${counted} people have such a subkey themselves; ${COST}`
  if (without.length === 0) return [pass('post-quantum', message)]
  const more = without.length > NAMED ? ` and ${without.length - NAMED} more` : ''
  return [
    warn(
      'post-quantum',
      `${message}. Whether the programs of the others can read the bot’s key is unknown: ${without.slice(0, NAMED).join(', ')}${more}`,
      `${PROGRAMS}; \`postern key rotate --algorithm classic\` goes back`,
    ),
  ]
}
