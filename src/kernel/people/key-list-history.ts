import type { KeptList, Memory } from '../memory.ts'
import { hash } from 'node:crypto'
import { BoundedMap } from '../../util/bounded-map.ts'
import type { Journal, TrustChange } from './journal.ts'
import { listsKeyOf, type Person } from './person.ts'

/** Digests kept in memory, so that an unchanged list costs no read of the disk. */
const REMEMBERED = 10_000
/** People named in one entry, each way. */
const NAMED = 100
/** A list has shrunk that loses half of its people, and two at least, in this time. */
const SHRINKING_MS = 86_400_000
/** One unknown sender a chat in this time: a service can invent people. */
const QUIET_MS = 3_600_000

/** The people of a key list; an empty fingerprint where nothing could be parsed. */
type ListedPeople = [userId: number, fingerprint: string][]

/** A usable certificate of a chat's list, since when, ms since the epoch; 0: on the first list. */
export type PastListing = [userId: number, fingerprint: string, sinceMs: number]

type ListedPerson = Pick<Person, 'userId' | 'fingerprint'> & { unusable?: string | null }

/** Past listings kept of a chat; those that are not listed now are forgotten first. */
const KEPT = 5000

/**
 * Keeps each chat's last key list, and records in the journal every change, and once each what no
 * honest service or member causes. All calls throw Refusal `postern_store_unwritable`.
 */
export class KeyListHistory {
  readonly #memory: Memory
  readonly #journal: Journal
  readonly #digests = new BoundedMap<number, string>(REMEMBERED)
  /** Has every list written again. */
  readonly forgetDigests = (): void => this.#digests.clear()
  readonly #contradictions = new BoundedMap<number, string>(REMEMBERED)
  /** The most people that a list had lately, so that shrinking step by step is found too. */
  readonly #largest: BoundedMap<number, number>
  readonly #ownKeyListers = new BoundedMap<string, string>(REMEMBERED)
  readonly #stripped = new BoundedMap<number, string>(REMEMBERED)
  readonly #unknownSenders: BoundedMap<number, true>

  constructor(memory: Memory, journal: Journal) {
    this.#memory = memory
    this.#journal = journal
    const nowMs = (): number => memory.nowMs()
    this.#largest = new BoundedMap(REMEMBERED, { ttlMs: SHRINKING_MS, nowMs })
    this.#unknownSenders = new BoundedMap(REMEMBERED, { ttlMs: QUIET_MS, nowMs })
  }

  /** Records a chat's key list; the first makes no journal entry. */
  async saw(chatId: number, people: readonly ListedPerson[]): Promise<void> {
    const now = listedOf(people)
    const usable = listedOf(people.filter(({ unusable }) => unusable === null))
    const text = JSON.stringify(now)
    const digest = hash('sha256', JSON.stringify([now, usable]), 'base64')
    if (this.#digests.get(chatId) === digest) return
    const kept = await this.#kept(chatId)
    if (kept?.people !== text || kept.ever !== this.#everText(usable, kept)) {
      const isOther = kept !== undefined && kept.people !== text
      const changes = isOther ? this.#changesOf(chatId, JSON.parse(kept.people), now) : []
      await this.#journal.record(changes, async ({ keyLists }) => {
        const ever = this.#everText(usable, await keyLists.of(chatId))
        await keyLists.save(chatId, { people: text, ever })
      })
    }
    this.#digests.set(chatId, digest)
    this.#contradictions.delete(chatId)
  }

  /** Every certificate that was ever usable on a chat's list, oldest first. */
  async everListed(chatId: number): Promise<PastListing[]> {
    return everListed([], await this.#kept(chatId), 0)
  }

  async #kept(chatId: number): Promise<KeptList | undefined> {
    return await this.#memory.read(({ keyLists }) => keyLists.of(chatId))
  }

  #everText(usable: ListedPeople, kept: KeptList | undefined): string {
    return JSON.stringify(everListed(usable, kept, this.#memory.nowMs()))
  }

  /** Records a contradiction in a chat's key list. @param detail as of `list-contradicts` */
  async contradicts(chatId: number, detail: { why: string; stranger?: number }): Promise<void> {
    const { why } = detail
    if (this.#contradictions.get(chatId) === why) return
    await this.#journal.record([{ kind: 'list-contradicts', chatId, detail }])
    this.#contradictions.set(chatId, why)
  }

  /** Records people who list a key of the bot's own. @param chatId null for a person's own record */
  async recordOwnKeys(
    chatId: number | null,
    people: readonly Person[],
    own: ReadonlySet<string>,
  ): Promise<void> {
    const listed = people.filter((person) => listsKeyOf(person, own)).map(({ userId }) => userId)
    const [userId] = listed
    const source = chatId === null ? `person ${people[0]?.userId}` : `chat ${chatId}`
    if (userId === undefined) return this.#ownKeyListers.delete(source)
    if (this.#ownKeyListers.get(source) === listed.join()) return
    const detail = { chatId, people: listed.slice(0, NAMED) }
    await this.#journal.record([{ kind: 'own-key-listed', userId, detail }])
    this.#ownKeyListers.set(source, listed.join())
  }

  /** Records people whose listed certificate lost the subkey that messages are sealed to. */
  async recordStripped(people: readonly Person[]): Promise<void> {
    for (const { userId, fingerprint, certificateStatus } of people) {
      const { isStripped, encryptionKeys } = certificateStatus
      const [subkey = ''] = encryptionKeys
      if (isStripped !== true || fingerprint === null) this.#stripped.delete(userId)
      else if (this.#stripped.get(userId) !== subkey) {
        const detail = { fingerprint, subkey }
        await this.#journal.record([{ kind: 'subkey-stripped', userId, detail }])
        this.#stripped.set(userId, subkey)
      }
    }
  }

  /** Records a writer or presser in another person's private chat. */
  async recordUnknownSender({ chatId, userId }: { chatId: number; userId: number }): Promise<void> {
    if (this.#unknownSenders.has(chatId)) return
    this.#unknownSenders.set(chatId, true)
    try {
      await this.#journal.record([{ kind: 'stranger', chatId, userId, detail: {} }])
    } catch (error) {
      this.#unknownSenders.delete(chatId)
      throw error
    }
  }

  #changesOf(chatId: number, before: ListedPeople, now: ListedPeople): TrustChange[] {
    const detail = difference(before, now)
    const changed: TrustChange = { kind: 'recipients-changed', chatId, detail }
    const from = Math.max(before.length, this.#largest.get(chatId) ?? 0)
    const to = now.length
    if (to <= from / 2 && from - to > 1) {
      this.#largest.delete(chatId)
      return [changed, { kind: 'list-shrank', chatId, detail: { from, to } }]
    }
    if (this.#largest.get(chatId) !== from) this.#largest.set(chatId, from)
    return [changed]
  }
}

type Named = readonly [userId: number, fingerprint: string, ...unknown[]]
const nameOf = ([userId, fingerprint]: Named): string => `${userId} ${fingerprint}`

/** All listings ever, with the certificates that are usable now. */
function everListed(
  usable: ListedPeople,
  kept: KeptList | undefined,
  nowMs: number,
): PastListing[] {
  const before = JSON.parse(kept?.ever ?? '[]') as PastListing[]
  const known = new Set(before.map(nameOf))
  const sinceMs = kept === undefined ? 0 : nowMs
  const fresh = usable.filter((one) => !known.has(nameOf(one)))
  const all = [...before, ...fresh.map((one): PastListing => [...one, sinceMs])]
  if (all.length <= KEPT) return all
  const now = new Set(usable.map(nameOf))
  const past = all.filter((one) => !now.has(nameOf(one)))
  const forgotten = new Set(past.slice(0, all.length - KEPT))
  return all.filter((one) => !forgotten.has(one))
}

function listedOf(people: readonly ListedPerson[]): ListedPeople {
  const byPerson = new Map(people.map(({ userId, fingerprint }) => [userId, fingerprint ?? '']))
  return [...byPerson].sort(([a], [b]) => a - b)
}

function difference(before: ListedPeople, now: ListedPeople) {
  const [old, fresh] = [new Map(before), new Map(now)]
  const named = (people: ListedPeople) => people.slice(0, NAMED).map(([userId]) => userId)
  return {
    count: now.length,
    added: named(now.filter(([userId]) => !old.has(userId))),
    removed: named(before.filter(([userId]) => !fresh.has(userId))),
    changed: named(now.filter(([userId, one]) => (old.get(userId) ?? one) !== one)),
  }
}
