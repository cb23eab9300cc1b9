/** The operations of a sidecar, over its parts. */
import type { Facts } from '../chats/facts.ts'
import type { Modes } from '../chats/modes.ts'
import { OperatorError } from '../errors.ts'
import type { Keyring, OwnKeyRecord } from '../keys/keyring.ts'
import type { Publication } from '../keys/publication.ts'
import type { ExplainOperations } from './explain.ts'
import type { TrustOperations } from './trust.ts'
import type { ChatRow, KeyRow, Lift, OpenReport, Operations, StatusReport } from './operations.ts'

export interface PerformParts {
  trust: TrustOperations
  explain: ExplainOperations
  keyring: Keyring
  facts: Facts
  modes: Modes
  /** Null when the sidecar manages no key. */
  publication: Publication | null
  status: () => Promise<StatusReport>
  open: (armored: string) => Promise<OpenReport>
}

/** Makes the operations that commands ask for, by socket or in their own process. */
export function createOperations(parts: PerformParts): Operations {
  const { keyring, facts, modes } = parts
  return {
    ...parts.trust,
    ...parts.explain,
    status: parts.status,
    open: parts.open,
    keyList: () => Promise.resolve(keyring.all.map(keyRow)),
    keyShow: async (fingerprint) => {
      const key = await Promise.resolve(findKey(keyring, fingerprint))
      return { fingerprint: key.fingerprint, state: key.state, certificate: key.certificate }
    },
    keyPublish: async ({ replace }) => await publish(parts, { replace }),
    chatList: () => Promise.resolve(facts.all.map((chat) => chatRow(chat, modes))),
    chatAllowReadable: async (lift) => await allowReadable(lift, parts),
  }
}

function findKey(keyring: Keyring, fingerprint: string | undefined): OwnKeyRecord {
  const found =
    fingerprint === undefined ? (keyring.active ?? keyring.pending) : keyring.find(fingerprint)
  if (found !== undefined) return found
  throw new OperatorError(
    'refused',
    fingerprint === undefined ? 'there is no key yet' : 'no key of ours has this fingerprint',
    'run postern key list',
  )
}

async function publish(
  { publication, facts }: PerformParts,
  options: { replace: boolean },
): Promise<{ fingerprint: string; state: string; message: string }> {
  if (publication === null) {
    throw new OperatorError(
      'refused',
      'key.publish is off',
      'set key.publish to true and start the sidecar again',
    )
  }
  const key = await publication.publish(options)
  if (facts.privateReadable) await facts.setPrivateReadable({ readable: false })
  return {
    fingerprint: key.fingerprint,
    state: publication.state,
    message: 'the service shows our key; private chats are encrypted',
  }
}

async function allowReadable(
  lift: Lift,
  { facts, modes, publication }: PerformParts,
): Promise<{ lifted: number[]; message: string }> {
  const chatIds = chosen(lift, facts)
  const lifted =
    'private' in lift
      ? await facts.setPrivateReadable({ readable: true })
      : await facts.lift(chatIds)
  for (const chatId of lifted) modes.forget(chatId)
  const isShown = publication?.state === 'published'
  return { lifted, message: messageFor(lift, { count: lifted.length, isShown }) }
}

function chosen(lift: Lift, facts: Facts): number[] {
  if ('chatIds' in lift) return lift.chatIds
  if ('private' in lift) return []
  return facts.all.flatMap(({ id, refusedAtMs }) => (refusedAtMs === null ? [] : [id]))
}

/** @param o `isShown`: the service still shows our key, so private chats stay encrypted */
function messageFor(lift: Lift, { count, isShown }: { count: number; isShown: boolean }): string {
  if ('private' in lift) {
    return isShown
      ? 'noted; the service still shows our key, so private chats stay encrypted until the owner removes it'
      : 'private chats may be readable again, where the service says that they are'
  }
  if (count === 0) return 'no chat had to be lifted'
  return `${count === 1 ? 'one chat' : `${count} chats`} lifted; the next sign of protection latches again`
}

function keyRow(key: OwnKeyRecord): KeyRow {
  return {
    fingerprint: key.fingerprint,
    state: key.state,
    createdAt: iso(key.createdAtMs) ?? '',
    publishedAt: iso(key.publishedAtMs),
    retiredAt: iso(key.retiredAtMs),
  }
}

function chatRow(chat: ReturnType<Facts['get']> & {}, modes: Modes): ChatRow {
  return {
    id: chat.id,
    kind: chat.kind,
    mode: modes.peek(chat.id, 0)?.mode ?? null,
    latched: chat.latchedAtMs !== null,
    refused: chat.refusedAtMs !== null,
  }
}

function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
