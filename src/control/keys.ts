/** What an operator can ask about the bot's own keys. */
import type { Facts } from '../chats/facts.ts'
import { OperatorError } from '../errors.ts'
import type { Keyring } from '../keys/keyring.ts'
import type { Openings } from '../keys/openings.ts'
import type { OwnKeyRecord } from '../keys/own-key.ts'
import type { Publication } from '../keys/publication.ts'
import { deletionOf } from './deletion.ts'
import type { KeyDone, KeyRow, Operations } from './operations.ts'

export interface KeyParts {
  keyring: Keyring
  openings: Openings
  facts: Facts
  /** Null when the sidecar manages no key. */
  publication: Publication | null
  /** Names of copies of the store that lie beside it, former versions' keys in them. */
  copies: () => string[]
}

type KeyOperations = Pick<
  Operations,
  'keyList' | 'keyShow' | 'keyPublish' | 'keyDeletion' | 'keyDelete'
>

export function keyOperations(parts: KeyParts): KeyOperations {
  const { keyring, openings } = parts
  const rowOf = (key: OwnKeyRecord): KeyRow => keyRow(key, { keyring, openings })
  return {
    keyList: () => Promise.resolve(keyring.all.map(rowOf)),
    keyShow: async (fingerprint) => {
      const key = await Promise.resolve(findKey(keyring, fingerprint))
      return { fingerprint: key.fingerprint, state: key.state, certificate: key.certificate }
    },
    keyPublish: async ({ replace }) => await publish(parts, { replace }),
    keyDeletion: async (fingerprint) => {
      const key = await Promise.resolve(deletable(keyring, fingerprint))
      return deletionOf(rowOf(key), parts.copies())
    },
    keyDelete: async (fingerprint) => {
      const key = deletable(keyring, fingerprint)
      await openings.flush()
      await keyring.destroy(key.fingerprint)
      return {
        fingerprint: key.fingerprint,
        message: 'destroyed; its certificate stays, to verify what it signed',
      }
    },
  }
}

/** Updates wait at the service for 72 hours (spec, Events 2), and clocks differ. */
const FLOOR_MS = 4 * 86_400_000

/** @throws OperatorError `refused` for a key that is in use, gone, or only just retired */
function deletable(keyring: Keyring, fingerprint: string): OwnKeyRecord {
  const key = findKey(keyring, fingerprint)
  const refuse = (message: string, hint: string): never => {
    throw new OperatorError('refused', message, hint)
  }
  if (key.state === 'active') {
    return refuse('it is the published key', 'postern key rotate puts a new one in its place first')
  }
  if (key.state === 'pending') {
    return refuse('it waits for its publication', 'postern key rotate --abandon ends a rotation')
  }
  if (key.state === 'destroyed') return refuse('it is destroyed already', 'run postern key list')
  const fromMs = (key.retiredAtMs ?? 0) + FLOOR_MS
  if (keyring.earliestNowMs() < fromMs) {
    return refuse(
      'updates that are sealed to it may still wait at the service',
      `it can be deleted from ${new Date(fromMs).toISOString()} on`,
    )
  }
  return key
}

/** @throws OperatorError `refused` */
export function findKey(keyring: Keyring, fingerprint: string | undefined): OwnKeyRecord {
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
  { publication, facts }: KeyParts,
  options: { replace: boolean },
): Promise<KeyDone> {
  const key = await managed(publication).publish(options)
  if (facts.privateReadable) await facts.setPrivateReadable({ readable: false })
  return {
    fingerprint: key.fingerprint,
    state: managed(publication).state,
    message: 'the service shows our key; private chats are encrypted',
  }
}

/** @throws OperatorError `refused` when the sidecar manages no key */
export function managed(publication: Publication | null): Publication {
  if (publication !== null) return publication
  throw new OperatorError(
    'refused',
    'key.publish is off',
    'set key.publish to true and start the sidecar again',
  )
}

function keyRow(
  key: OwnKeyRecord,
  { keyring, openings }: { keyring: Keyring; openings: Openings },
): KeyRow {
  const { messages, media, lastAtMs } = openings.of(key.fingerprint)
  const untilMs = keyring.opensUntilMs(key)
  return {
    fingerprint: key.fingerprint,
    state: key.state,
    createdAt: iso(key.createdAtMs) ?? '',
    publishedAt: iso(key.publishedAtMs),
    retiredAt: iso(key.retiredAtMs),
    destroyedAt: iso(key.destroyedAtMs),
    opensUntil: key.state === 'retired' ? iso(untilMs) : null,
    opens: keyring.opens(key),
    openedMessages: messages,
    openedMedia: media,
    lastOpenedAt: iso(lastAtMs),
  }
}

/** ISO 8601 in UTC; null stays null. */
export function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
