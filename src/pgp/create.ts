/** The engine in use: openpgp.js in threads, behind the header walk. */
import { openBulk, type BulkHelpers } from './bulk/open.ts'
import type { Engine, Judgement, NotOpened, Opened, UnlockedKey } from './engine.ts'
import { JobKilled, Pool } from './pool.ts'
import { walkMessage, type OwnIds } from './walk.ts'

/** Greatest time of one job, in ms, from when a thread takes it up. */
const DEADLINES_MS = {
  open: 3000,
  verify: 3000,
  judge: 3000,
  seal: 20_000,
  own: 30_000,
  attachment: 30_000,
}

/**
 * Makes an engine. Messages (open, verify), certificates (judge) and what we make (seal, generate,
 * unlock) run in threads of their own, so that nothing of anybody's can hold up the others.
 * @param options `threads` of each of the three, 2 by default, started when first needed; `deadlineMs` for opening, verifying
 *   and judging, 3000 by default; `killed` is called when a job had to be killed
 */
export function createEngine(
  options: { threads?: number; deadlineMs?: number; killed?: (job: string) => void } = {},
): Engine {
  const threads = options.threads ?? 2
  const messages = new Pool(threads, options.killed)
  const certificates = new Pool(threads, options.killed)
  const ours = new Pool(threads, options.killed)
  // Few attachments are in a form for the library, and each takes much memory: one at a time.
  const attachments = new Pool(1, options.killed)
  const limit = (job: 'open' | 'verify' | 'judge'): number =>
    options.deadlineMs ?? DEADLINES_MS[job]
  const sealKnown: Engine['sealKnown'] = (request) =>
    ours.run('seal', [request, Date.now()], DEADLINES_MS.seal)
  return {
    generate: (made) => ours.run('generate', [made], DEADLINES_MS.own),
    unlock: (locked, passphrase) => ours.run('unlock', [locked, passphrase], DEADLINES_MS.own),
    seal: async (request) => (await sealKnown(request)).armored,
    sealKnown,
    judge: (armored, known) =>
      certificates
        .run('judge', [armored, Date.now(), known], limit('judge'))
        .catch((error: unknown) => judgedLate(armored, error)),
    open: async (armored, keys, signal) => {
      const walked = walkMessage(armored, idsOf(keys))
      if (walked.outcome !== 'encrypted') return walked
      return await messages.run('open', [walked, keys], limit('open'), signal).catch(openedLate)
    },
    openFile: (reader, { form, keys, room }) => {
      const helpers: BulkHelpers = {
        unwrap: (recipientPackets) =>
          messages.run('unwrap', [recipientPackets, keys], limit('open')).catch(() => []),
        openWhole: (...whole) =>
          attachments.run('openWhole', [...whole, keys], DEADLINES_MS.attachment).catch(() => null),
        unpackWhole: (packet) =>
          attachments.run('unpackWhole', [packet], DEADLINES_MS.attachment).catch(() => null),
      }
      return openBulk(reader, { form, room, own: idsOf(keys), ...helpers })
    },
    verify: (signed, certificate, nowMs, signal) =>
      messages
        .run('verify', [signed, certificate, nowMs], limit('verify'), signal)
        .catch(() => signed.signatures.map(() => 'bad' as const)),
    async [Symbol.asyncDispose]() {
      await Promise.all(
        [messages, certificates, ours, attachments].map((pool) => pool[Symbol.asyncDispose]()),
      )
    },
  }
}

function idsOf(keys: UnlockedKey[]): OwnIds {
  return {
    keyIds: new Set(keys.flatMap((key) => key.keyIds)),
    fingerprints: new Set(keys.flatMap((key) => key.fingerprints)),
    keyCount: keys.length,
  }
}

function openedLate(error: unknown): Opened {
  const late: NotOpened = { outcome: 'damaged', reason: 'failed' }
  return error instanceof JobKilled ? { ...late, reason: 'deadline' } : late
}

function judgedLate(armored: string, error: unknown): Judgement {
  if (!(error instanceof JobKilled)) throw error
  return {
    fingerprint: null,
    unusable: 'deadline',
    notBeforeMs: 0,
    expiresMs: Infinity,
    revocations: false,
    recipientBytes: { aes256: 0, aes128: 0 },
    algorithm: 'unknown',
    armored,
  }
}
