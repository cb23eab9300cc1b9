import { countedCache, FreshCache, type Lookups } from '../../util/caches.ts'
import { ServiceError } from '../../errors.ts'
import type { Certificates, KeyList, KeyLookups } from '../../kernel/index.ts'
import type { Person, Sightings, Unseen } from '../../kernel/index.ts'
import { SYSTEM_TIME, monotonicNow } from '../../util/clock.ts'

const CHATS = 2000
const USERS = 20_000
/** The most memory for lists, and for people by themselves: certificates can be 64 KiB each. */
const MAX_BYTES = 64 * 2 ** 20
/** Approximate bytes cached for a person beside the certificate. */
const PERSON_BYTES = 1024
/** Greatest age of a list for finding a signer: a missing key is requested anyway. */
const SIGNER_MAX_AGE_MS = 600_000
/** How often a minute a person's key is requested again without result. */
const VAIN_ANSWERS = 3
const VAIN_FOR_MS = 60_000

/** Other people's certificates: fetched from the service, observed by the kernel, and cached. */
export class Directory implements KeyLookups {
  /** Traces put a span around these calls, and replace no other method. */
  static readonly traced = ['keyList', 'signer'] as const
  readonly #lists: FreshCache<KeyList>
  readonly #users: FreshCache<{ person: Person | null }>
  readonly #vain = countedCache<string, number>(USERS, { ttlMs: VAIN_FOR_MS })
  readonly #certificates: Certificates
  readonly #time: { nowMs(): number }

  constructor(parts: {
    /** Results of `GET /chats/{chatId}/keys` and `GET /users/{userId}/key`, or ServiceError. */
    calls: Record<'chatKeys' | 'userKey', (id: number) => Promise<Unseen>>
    sightings: Pick<Sightings, 'sawKeyList' | 'sawUserKey'>
    certificates: Certificates
    /** That of this machine by default. */
    time?: { nowMs(): number }
  }) {
    const { calls, sightings, time = SYSTEM_TIME } = parts
    this.#time = time
    this.#certificates = parts.certificates
    this.#lists = new FreshCache({
      max: CHATS,
      bounds: { maxBytes: MAX_BYTES, bytesOf: ({ people }) => bytesOf(people) },
      fetch: async (chatId) => await sightings.sawKeyList(await calls.chatKeys(chatId), chatId),
    })
    this.#users = new FreshCache({
      max: USERS,
      bounds: { maxBytes: MAX_BYTES, bytesOf: ({ person }) => bytesOf(person ? [person] : []) },
      fetch: async (userId) => {
        const answer = await absentIfUnknown(calls.userKey(userId))
        return { person: await sightings.sawUserKey(answer, userId) }
      },
    })
  }

  /**
   * The key list of a chat, asked for at `sinceMs` or later.
   * @throws ServiceError, NoResponseError, Refusal `postern_store_unwritable`
   */
  async keyList(chatId: number, sinceMs: number): Promise<KeyList> {
    const list = await this.#lists.get(chatId, sinceMs)
    await this.#certificates.refreshList(list, this.#time.nowMs())
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
    const { person } = known
    if (person !== null) {
      known.person = await this.#certificates.refreshPerson(person, this.#time.nowMs())
    }
    return known.person
  }

  /**
   * Has the kernel observe a person's own key record as it is now.
   * @throws ServiceError, NoResponseError, Refusal `postern_store_unwritable`
   */
  async refreshUser(userId: number): Promise<void> {
    await this.#users.get(userId, monotonicNow())
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

  /** How often a key list and a person's own record were known, and how often asked for. */
  get lookups(): { lists: Lookups; people: Lookups } {
    return { lists: this.#lists.lookups, people: this.#users.lookups }
  }

  /** Whether `keyList` makes no call. */
  hasKeyList(chatId: number, sinceMs: number): boolean {
    return this.#lists.peek(chatId, sinceMs) !== undefined
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

  async #listedSigner(userId: number, chatId: number, sinceMs: number): Promise<Person | null> {
    try {
      const { people } = await this.keyList(chatId, sinceMs)
      const listed = people.filter((person) => person.userId === userId)
      // a list that gives somebody two keys contradicts itself: it speaks for neither
      return listed.length === 1 ? (listed[0] ?? null) : null
    } catch (error) {
      if (error instanceof ServiceError && error.status < 429 && error.status !== 401) return null
      throw error
    }
  }
}

function bytesOf(people: Person[]): number {
  const bytes = people.map((one) => PERSON_BYTES + one.certificateStatus.armored.length)
  return bytes.reduce((sum, one) => sum + one, 0)
}

/** 404 `user_not_found` and `no_user_key` are answers, not failures. */
const absentIfUnknown = (record: Promise<Unseen>): Promise<Unseen | null> =>
  record.catch((error: unknown) => {
    if (error instanceof ServiceError && error.status === 404) return null
    throw error
  })
