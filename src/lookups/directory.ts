import { countedCache, FreshCache, type Lookups } from '../util/caches.ts'
import { ChatKeys, readUserKey } from '../api/user-key.ts'
import { ServiceError, NoResponseError } from '../errors.ts'
import { monotonicNow } from '../util/clock.ts'
import { MOST_RECIPIENTS } from '../openpgp/index.ts'
import type { KnownKeys } from '../kernel/people/known-keys.ts'
import type { KeyListHistory } from '../kernel/people/key-list-history.ts'
import type { OwnKeyListings } from '../kernel/people/own-key-listings.ts'
import { readPeople, type Person, type PersonParts } from '../kernel/people/person.ts'
import type { KeyList, KeyLookups } from '../kernel/lookups.ts'

/** The calls that the directory makes; both throw ServiceError and NoResponseError. */
export interface DirectoryCalls {
  /** Result of `GET /chats/{chatId}/keys`. */
  chatKeys(chatId: number): Promise<unknown>
  /** Result of `GET /users/{userId}/key`. */
  userKey(userId: number): Promise<unknown>
}

const CHATS = 2000
const USERS = 20_000
/** Keys of a list that are looked at: some may be of no use. */
const MOST_LISTED = 2 * MOST_RECIPIENTS
/** The most memory for lists, and for people by themselves: certificates can be 64 KiB each. */
const MAX_BYTES = 64 * 2 ** 20
/** What is kept of a person beside the certificate, about. */
const PERSON_BYTES = 1024
/** How old a list may be to look up a signer: a missing key is asked for anyway. */
const SIGNER_MAX_AGE_MS = 600_000
/** How often a minute a person's key is asked afresh without result. */
const VAIN_ANSWERS = 3
const VAIN_FOR_MS = 60_000

/** Other people's certificates: fetched from the service, judged, and cached. */
export class Directory implements KeyLookups {
  readonly #lists: FreshCache<KeyList>
  readonly #users: FreshCache<{ person: Person | null }>
  readonly #vain = countedCache<string, number>(USERS, { ttlMs: VAIN_FOR_MS })

  readonly #certificates: PersonParts['certificates']

  constructor(
    parts: PersonParts & {
      calls: DirectoryCalls
      keyListHistory: KeyListHistory
      knownKeys: KnownKeys
      ownKeyListings: OwnKeyListings
    },
  ) {
    const { calls, keyListHistory, knownKeys, ownKeyListings } = parts
    this.#certificates = parts.certificates
    this.#lists = new FreshCache({
      max: CHATS,
      bounds: { maxBytes: MAX_BYTES, bytesOf: ({ people }) => bytesOf(people) },
      fetch: async (chatId) => {
        const result = ChatKeys.safeParse(await calls.chatKeys(chatId))
        if (!result.success) throw new NoResponseError('postern_upstream_invalid', 'a key list')
        const { keys, memberCount } = result.data
        if (keys.length > MOST_LISTED) {
          const tooMany = keys.length
          return { people: [], nameless: 0, memberCount, lapsesAtMs: Infinity, tooMany }
        }
        const named = keys.map(readUserKey).filter((key) => key !== null)
        const people = await readPeople(named, parts)
        await keyListHistory.saw(chatId, people)
        await knownKeys.saw(`chat ${chatId}`, people)
        await ownKeyListings.saw(chatId, people)
        const nameless = keys.length - named.length
        return { people, nameless, memberCount, lapsesAtMs: lapsesAtMs(people), tooMany: null }
      },
    })
    this.#users = new FreshCache({
      max: USERS,
      bounds: {
        maxBytes: MAX_BYTES,
        bytesOf: ({ person }) => bytesOf(person === null ? [] : [person]),
      },
      fetch: async (userId) => {
        const result = await absentIfUnknown(calls.userKey(userId))
        if (result === null) await parts.trust.saw([{ userId, fingerprint: null }])
        const record = readUserKey(result)
        const found = record === null ? [] : await readPeople([record], parts)
        await knownKeys.saw(`person ${userId}`, found)
        await ownKeyListings.saw(null, found)
        return { person: found.find((person) => person.userId === userId) ?? null }
      },
    })
  }

  /**
   * The key list of a chat, asked for at `sinceMs` or later.
   * @throws ServiceError, NoResponseError, Refusal `postern_store_unwritable`
   */
  async keyList(chatId: number, sinceMs: number): Promise<KeyList> {
    const list = await this.#lists.get(chatId, sinceMs)
    const isLapsed = Date.now() >= list.lapsesAtMs
    if (isLapsed || list.people.some((one) => this.#isRevokedSince(one))) {
      await this.#judgeAgain(list)
    }
    return list
  }

  /**
   * Whose certificate speaks for a person in a chat: the chat's list first, then the person's own
   * record. Null when the service knows none.
   * @param sinceMs ask again unless asked by then or later (`monotonicNow`); absent: ten minutes
   *   may be old
   * @throws ServiceError, NoResponseError, Refusal `postern_store_unwritable`
   */
  async signer(userId: number, chatId: number, sinceMs?: number): Promise<Person | null> {
    const since = sinceMs ?? monotonicNow() - SIGNER_MAX_AGE_MS
    const listed = await this.#listedSigner(userId, chatId, since)
    if (listed !== null) return listed
    const known = await this.#users.get(userId, since)
    if (known.person !== null && this.#isRevokedSince(known.person)) {
      known.person = await this.#judgedAgain(known.person)
    }
    return known.person
  }

  /**
   * An update of a chat showed a person, or a service notice (null): a list that does not have
   * them is dropped, so that the next message reaches them.
   */
  sawPerson(chatId: number, userId: number | null): void {
    const list = this.#lists.peek(chatId, 0)
    if (list === undefined) return
    const isListed = list.people.some((person) => person.userId === userId)
    const hasNone = userId !== null && this.#users.peek(userId, 0)?.person === null
    if (!isListed && !hasNone) this.#lists.forget(chatId)
  }

  /** Whether to ask afresh for a signer: not on and on for somebody whose key does not fit. */
  mayAskAgain(userId: number, chatId: number): boolean {
    return (this.#vain.get(`${userId}:${chatId}`) ?? 0) < VAIN_ANSWERS
  }

  /** Asking afresh did not help. */
  askedInVain(userId: number, chatId: number): void {
    const key = `${userId}:${chatId}`
    this.#vain.set(key, (this.#vain.get(key) ?? 0) + 1, { noUpdateTTL: true })
  }

  /** Whether any revocation of a certificate, or of a part of it, is known. */
  isRevoked(fingerprint: string): boolean {
    return this.#certificates.isRevoked(fingerprint)
  }

  /** A certificate that was listed before, armored; null where none is kept, or it is revoked. */
  async formerCertificate(fingerprint: string): Promise<string | null> {
    return await this.#certificates.copyOf(fingerprint)
  }

  /** How often a key list and a person's own record were known, and how often asked for. */
  get lookups(): { lists: Lookups; people: Lookups } {
    return { lists: this.#lists.lookups, people: this.#users.lookups }
  }

  /** Drops a chat's list: somebody joined, left or changed. */
  forget(chatId: number): void {
    this.#lists.forget(chatId)
  }

  /** Drops everything: the operator has decided whose a certificate is. */
  forgetAll(): void {
    this.#lists.clear()
    this.#users.clear()
    this.#vain.clear()
  }

  /**
   * Certificates end while a list is kept, and are seen revoked elsewhere; what they are then is
   * looked at before it is used.
   */
  async #judgeAgain(list: KeyList): Promise<void> {
    const nowMs = Date.now()
    list.people = await Promise.all(
      list.people.map(async (person) => {
        const isLapsed = person.unusable === null && nowMs >= person.certificateStatus.expiresMs
        return isLapsed || this.#isRevokedSince(person) ? await this.#judgedAgain(person) : person
      }),
    )
    list.lapsesAtMs = lapsesAtMs(list.people)
  }

  #isRevokedSince({ certificateStatus }: Person): boolean {
    return this.#certificates.isRevokedSince(certificateStatus)
  }

  async #judgedAgain(person: Person): Promise<Person> {
    const certificateStatus = await this.#certificates.judge(person.certificateStatus.armored)
    return { ...person, unusable: person.unusable ?? certificateStatus.unusable, certificateStatus }
  }

  async #listedSigner(userId: number, chatId: number, sinceMs: number): Promise<Person | null> {
    try {
      const { people } = await this.keyList(chatId, sinceMs)
      return people.find((person) => person.userId === userId) ?? null
    } catch (error) {
      if (error instanceof ServiceError && error.status < 429 && error.status !== 401) return null
      throw error
    }
  }
}

function lapsesAtMs(people: Person[]): number {
  return people.reduce(
    (first, { unusable, certificateStatus }) =>
      unusable === null ? Math.min(first, certificateStatus.expiresMs) : first,
    Infinity,
  )
}

function bytesOf(people: Person[]): number {
  return people.reduce(
    (sum, { certificateStatus }) => sum + PERSON_BYTES + certificateStatus.armored.length,
    0,
  )
}

/** 404 `user_not_found` and `no_user_key` are answers, not failures. */
async function absentIfUnknown(record: Promise<unknown>): Promise<unknown> {
  try {
    return await record
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return null
    throw error
  }
}
