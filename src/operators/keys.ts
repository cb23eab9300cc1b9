/** Operations on the bot's own keys. */
import { z } from 'zod'
import type { Keyring } from '../keys/keyring.ts'
import type { OwnKeyRecord } from '../kernel/index.ts'
import { refusedError } from '../errors.ts'
import { counted } from '../printable.ts'
import { fingerprint, iso, nothing, operation, type OperationParts } from './operation.ts'
import { managed } from './rotation.ts'

/** Updates wait at the service for 72 hours (spec, Events 2), and clocks differ. */
export const FLOOR_MS = 4 * 86_400_000

/** One of the bot's own keys. Times are ISO 8601 in UTC. */
export type KeyRow = ReturnType<typeof keyRow>

/** The consequences of deleting a key. */
export type DeletionReport = ReturnType<typeof describeDeletion>

const chosen = z.strictObject({ fingerprint })

const PublishInput = z.strictObject({ replace: z.boolean() })

export const KEYS = {
  /** Our keys, newest first. */
  keyList: operation(nothing, (parts) => parts.keyring.all.map((key) => keyRow(key, parts))),
  /** The certificate of a key; of the active one when none is named. */
  keyShow: operation(chosen.partial(), ({ keyring }, input) => {
    const key = findKey(keyring, input.fingerprint)
    return { fingerprint: key.fingerprint, state: key.state, certificate: key.certificate }
  }),
  /** Publishes our key; `replace` puts it in place of a key that is not ours. */
  keyPublish: operation(PublishInput, async ({ publication, knownChats }, { replace }) => {
    const key = await managed(publication).publish({ replace })
    if (knownChats.privateReadable) await knownChats.setPrivateReadable({ readable: false })
    return {
      fingerprint: key.fingerprint,
      state: managed(publication).state,
      message: 'the service shows our key; private chats are encrypted',
    }
  }),
  /** What deleting a key would do; refuses like `keyDelete`. */
  keyDeletion: operation(chosen, (parts, input) => {
    const key = keyRow(deletable(parts.keyring, input.fingerprint), parts)
    return describeDeletion(key, parts.storeCopies())
  }),
  /** Destroys the secret of an old key for good. */
  keyDelete: operation(chosen, async ({ keyring, keyUsage }, input) => {
    const key = deletable(keyring, input.fingerprint)
    await keyUsage.flush()
    await keyring.destroy(key.fingerprint)
    return {
      fingerprint: key.fingerprint,
      message: 'destroyed; its certificate stays, to verify what it signed',
    }
  }),
}

/** @throws OperatorError `refused` */
export function findKey(keyring: Keyring, named: string | undefined): OwnKeyRecord {
  const found = named === undefined ? (keyring.active ?? keyring.pending) : keyring.find(named)
  if (found !== undefined) return found
  throw refusedError(
    named === undefined ? 'there is no key yet' : 'no key of ours has this fingerprint',
    '`postern key list` shows them',
  )
}

/** Why keys of a state are not deleted, with a hint. */
const UNDELETABLE: Partial<Record<OwnKeyRecord['state'], [message: string, hint: string]>> = {
  active: ['it is the published key', '`postern key rotate` puts a new one in its place first'],
  pending: ['it waits for its publication', '`postern key rotate --abandon` ends a rotation'],
  destroyed: ['it is destroyed already', '`postern key list` shows them'],
}

/** @throws OperatorError `refused` for a key that is in use, gone, or only just retired */
function deletable(keyring: Keyring, named: string): OwnKeyRecord {
  const key = findKey(keyring, named)
  const refusal = UNDELETABLE[key.state]
  if (refusal !== undefined) throw refusedError(...refusal)
  const fromMs = (key.retiredAtMs ?? 0) + FLOOR_MS
  if (keyring.clocks.earliestMs() >= fromMs) return key
  throw refusedError(
    'updates that are sealed to it may still wait at the service',
    `it can be deleted from ${iso(fromMs)} on`,
  )
}

function keyRow(key: OwnKeyRecord, { keyring, keyUsage }: OperationParts) {
  const { messages, media, lastAtMs } = keyUsage.of(key.fingerprint)
  return {
    fingerprint: key.fingerprint,
    state: key.state,
    createdAt: iso(key.createdAtMs),
    publishedAt: iso(key.publishedAtMs),
    retiredAt: iso(key.retiredAtMs),
    destroyedAt: iso(key.destroyedAtMs),
    /** Null: without end, or not at all when it is destroyed. */
    opensUntil: key.state === 'retired' ? iso(keyring.opensUntilMs(key)) : null,
    /** Whether it opens now. */
    opens: keyring.opens(key),
    openedMessages: messages,
    openedMedia: media,
    lastOpenedAt: iso(lastAtMs),
  }
}

/** @param copies names of copies of the store that lie beside it */
function describeDeletion(key: KeyRow, copies: readonly string[]) {
  const { publishedAt, retiredAt, opensUntil, openedMessages, openedMedia, lastOpenedAt } = key
  const since = publishedAt ?? key.createdAt
  const last = lastOpenedAt === null ? '' : `, the last at ${lastOpenedAt}`
  return {
    key,
    /** Messages that become unreadable, for people, a line each. */
    loses: [
      `messages sealed to it, from ${since} to ${retiredAt ?? 'now'} and later by phones that ` +
        'had not learned of the next key: updates still to come, and old messages that people quote',
      'files of those chats that are fetched again',
      ...(key.opens ? [`it would have gone on opening until ${opensUntil}`] : []),
      `so far it has opened ${counted(openedMessages, 'message')} and ${counted(openedMedia, 'file')}${last}`,
    ],
    /** Limits of the key's destruction, a line each. */
    unsure: [
      ...copies.map((name) => `${name} in dataDir, a copy from before an upgrade`),
      'backups and exports that were made of it',
      'blocks that the disk or the file system has put elsewhere (SSDs, snapshots, copy on write)',
      'the memory of a running sidecar, until it is started again',
    ],
  }
}
