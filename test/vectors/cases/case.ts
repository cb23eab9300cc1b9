/** What a case says, before it is written down. */
import { createHash } from 'node:crypto'
import { armor } from '../../support/openpgp-framing.ts'
import { NOW_MS } from '../../support/openpgp-people.ts'
import type { Vector } from '../format.ts'
import { whyOfCertificate, whyOfChat, whyOfMessage } from './why.ts'

interface Common {
  /** File name without ending: number of the case in SECURITY, then words. */
  name: string
  about: string
  /** Rows of SECURITY, advisories, sections of RFC 9580. */
  covers: string
  nowMs?: number
}

export type SignatureWord = 'valid' | 'bad' | 'other-key'

export interface MessageCase extends Common {
  /** Packets, to be armored, or text as it is. */
  body: Uint8Array | string
  /** Keys that open it; the bot's alone by default. */
  reader?: string
  /** Certificate that signatures are verified with; alice's by default. */
  signer?: string
  outcome: 'opened' | 'damaged' | 'not-recipient' | 'not-encrypted' | 'too-large'
  reason?: string
  text?: string
  signatures?: SignatureWord[]
  /** Fingerprints that the signatures name, in order. */
  intended?: string[]
}

export interface CertificateCase extends Common {
  /** Packets, to be armored, or text as it is. */
  body: Uint8Array | string
  /** An earlier copy, as the name of another certificate vector. */
  known?: string
  unusable?: string
  fingerprint?: string
  algorithm?: string
  /** When it expires; null for never. */
  expiresMs?: number | null
  notBeforeMs?: number
  recipient?: [aes256: number, aes128: number]
}

/** A record of a chat's key list (`GET /chats/{chatId}/keys`). */
export interface KeyRecord {
  userId: number
  fingerprint: string
  publicKey: string
}

/** What happens, in order. Every chat is protected. */
export type ChatStep =
  /** From now on this is the chat's key list. */
  | { keys: KeyRecord[]; chatId: number; kind: 'private' | 'group' }
  /** A Message is delivered to the bot. */
  | { message: Record<string, unknown> }
  /** The update of the step before is asked for again. */
  | { again: true }
  /** The bot sends words. */
  | { send: { chatId: number; text: string } }

export interface ChatCase extends Common {
  /** When the bot's key was published. */
  publishedMs: number
  steps: ChatStep[]
  /** Of the last step: the verdict on a Message; `sent`, or the code of the refusal. */
  outcome: string
  /** The words that the bot gets; absent when it gets none. */
  text?: string
}

/** Longer texts stand in a header as their digest. */
const TEXT_CHARS = 200

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const time = (ms: number): string => new Date(ms).toISOString().replace('.000', '')

export function messageVector(one: MessageCase): Vector {
  const fields: [string, string][] = [
    ['about', one.about],
    ['covers', one.covers],
    ['reader', one.reader ?? 'bot'],
    ['signer', one.signer ?? 'alice'],
    ['now', time(one.nowMs ?? NOW_MS)],
    ['outcome', one.outcome],
  ]
  if (one.reason !== undefined) fields.push(['reason', one.reason])
  if (one.text !== undefined) {
    const short = one.text.length <= TEXT_CHARS
    fields.push(short ? ['text', JSON.stringify(one.text)] : ['text-sha256', sha256(one.text)])
    fields.push(['signatures', one.signatures?.join(' ') ?? 'none'])
  }
  if (one.intended !== undefined) fields.push(['intended', one.intended.join(' ')])
  fields.push(['why', whyOfMessage(one.outcome, one.reason, one.signatures)])
  return withDigest('message', fields, typeof one.body === 'string' ? one.body : armor(one.body))
}

export function certificateVector(one: CertificateCase): Vector {
  const fields: [string, string][] = [
    ['about', one.about],
    ['covers', one.covers],
    ['now', time(one.nowMs ?? NOW_MS)],
  ]
  const add = (name: string, value: string | number | undefined): void => {
    if (value !== undefined) fields.push([name, String(value)])
  }
  add('known', one.known)
  add('outcome', one.unusable === undefined ? 'usable' : 'unusable')
  add('reason', one.unusable)
  add('fingerprint', one.fingerprint)
  add('algorithm', one.algorithm)
  if (one.expiresMs !== undefined) {
    add('expires', one.expiresMs === null ? 'never' : time(one.expiresMs))
  }
  add('not-before', one.notBeforeMs === undefined ? undefined : time(one.notBeforeMs))
  add('recipient-octets', one.recipient?.join(' '))
  add('why', whyOfCertificate(one.unusable))
  const body =
    typeof one.body === 'string' ? one.body : armor(one.body, { type: 'PUBLIC KEY BLOCK' })
  return withDigest('certificate', fields, body)
}

export function chatVector(one: ChatCase): Vector {
  const fields: [string, string][] = [
    ['about', one.about],
    ['covers', one.covers],
    ['reader', 'bot'],
    ['published', time(one.publishedMs)],
    ['now', time(one.nowMs ?? NOW_MS)],
    ['outcome', one.outcome],
  ]
  if (one.text !== undefined) fields.push(['text', JSON.stringify(one.text)])
  fields.push(['why', whyOfChat(one.outcome)])
  return withDigest('chat', fields, `${JSON.stringify(one.steps, null, 2)}\n`)
}

const withDigest = (kind: Vector['kind'], fields: Vector['fields'], body: string): Vector => ({
  kind,
  fields: [...fields, ['sha256', sha256(body)]],
  body,
})
