/** Judges and records every key list and key record before its people are used. */
import type { UserKey } from '../../api/user-key.ts'
import { MOST_RECIPIENTS, type CertificateStatus } from '../../openpgp/index.ts'
import type { KeyList } from '../lookups.ts'
import type { Evidence, EvidenceLookup, Listing } from './pins.ts'
import { lapsesAtMs, type Certificates } from './certificates.ts'
import type { KeyListHistory } from './key-list-history.ts'
import type { KnownKeys } from './known-keys.ts'
import { isWorthless, type Person, type Unusable } from './person.ts'
import type { Trust } from './trust.ts'

/** Keys of a list that are judged: some may be unusable. */
const MOST_LISTED = 2 * MOST_RECIPIENTS

/** An answer of `GET /chats/{chatId}/keys`; null for each record that names nobody. */
export interface KeyListAnswer {
  records: readonly (UserKey | null)[]
  memberCount: number | undefined
}

export interface PeopleObserverParts {
  certificates: Certificates
  trust: Trust
  keyListHistory: KeyListHistory
  knownKeys: KnownKeys
  /** Fingerprints of all keys that ever were the bot's, primary keys and subkeys. */
  own: () => ReadonlySet<string>
  /** Nothing is proved of any certificate when not given. */
  evidence?: EvidenceLookup | undefined
}

interface JudgedRecord {
  key: UserKey
  certificateStatus: CertificateStatus
  evidence?: Evidence | undefined
}

/** All calls throw Refusal `postern_store_unwritable`. */
export class PeopleObserver {
  readonly #parts: PeopleObserverParts

  constructor(parts: PeopleObserverParts) {
    this.#parts = parts
  }

  /** Judges and records a key list, unless it is too long. */
  async observeKeyList(chatId: number, answer: KeyListAnswer): Promise<KeyList> {
    const { records, memberCount } = answer
    if (records.length > MOST_LISTED) {
      const tooMany = records.length
      return { people: [], nameless: 0, memberCount, lapsesAtMs: Infinity, tooMany }
    }
    const named = records.filter((key) => key !== null)
    const { keyListHistory, own } = this.#parts
    const people = await this.#observe(`chat ${chatId}`, named, (all) =>
      keyListHistory.saw(chatId, all),
    )
    await keyListHistory.recordOwnKeys(chatId, people, own())
    const nameless = records.length - named.length
    return { people, nameless, memberCount, lapsesAtMs: lapsesAtMs(people), tooMany: null }
  }

  /**
   * Judges and records a person's own key record; null where it is not that person's.
   * @param answer null: the service knows no key of the person; `record` null: it names nobody
   */
  async observeUserKey(
    userId: number,
    answer: { record: UserKey | null } | null,
  ): Promise<Person | null> {
    if (answer === null) await this.#parts.trust.saw([{ userId, fingerprint: null }])
    const record = answer?.record ?? null
    if (record === null) return null
    const people = await this.#observe(`person ${userId}`, [record])
    await this.#parts.keyListHistory.recordOwnKeys(null, people, this.#parts.own())
    return people.find((person) => person.userId === userId) ?? null
  }

  /**
   * Records listings, keys and revocations, which all count at once, whichever write fails. A record
   * with a false fingerprint is no listing.
   * @param source a name of the list
   * @param saw records the people of the list
   */
  async #observe(
    source: string,
    records: readonly UserKey[],
    saw: (people: readonly Person[]) => Promise<void> = async () => {},
  ): Promise<Person[]> {
    const { certificates, keyListHistory, trust, knownKeys } = this.#parts
    const listedTexts = records.map(({ publicKey }) => publicKey ?? '')
    const statuses = await judgeList(listedTexts, certificates)
    const judged = await Promise.all(
      statuses.map(async (certificateStatus, index) => {
        const key = records[index] as UserKey
        const { userId } = key
        const evidence = await this.#parts.evidence?.(
          { userId, pin: trust.pinOf(userId), certificateStatus },
          certificates,
        )
        return { key, userId, certificateStatus, evidence }
      }),
    )
    const listed = trust.saw(judged.flatMap((one) => listingOf(one) ?? []))
    const peopleNow = (): Person[] =>
      judged.map((one) => {
        const { userId, certificateStatus } = one
        const { fingerprint } = certificateStatus
        return { userId, fingerprint, unusable: unusableFor(one, trust), certificateStatus }
      })
    const own = peopleNow().filter(({ unusable }) => !isWorthless(unusable))
    const writes = await Promise.allSettled([
      listed,
      certificates.keepCopies(own.map(({ certificateStatus }) => certificateStatus)),
      ...judged.flatMap(({ certificateStatus, evidence, userId }) =>
        [certificateStatus, ...(evidence?.revocations ?? [])].map((one) =>
          certificates.rememberRevoked(one, userId),
        ),
      ),
      knownKeys.saw(source, judged),
      saw(peopleNow()),
    ])
    for (const write of writes) if (write.status === 'rejected') throw write.reason
    const people = peopleNow()
    await keyListHistory.recordStripped(people)
    return people
  }
}

/** The statuses of listed certificates; the copies of one have each other's statements. */
export async function judgeList(
  listed: readonly string[],
  certificates: Pick<Certificates, 'judge' | 'merged'>,
): Promise<CertificateStatus[]> {
  const statuses = await Promise.all(listed.map((armored) => certificates.judge(armored)))
  const whole = new Map<string | null, CertificateStatus>()
  for (const one of statuses) {
    const { fingerprint, armored, isNews } = one
    const before = whole.get(fingerprint)
    if (fingerprint === null || before?.armored === armored) continue
    const merged = before === undefined ? one : await certificates.merged(one, before)
    const hasNews = isNews === true || before?.isNews === true || merged.isNews === true
    whole.set(fingerprint, hasNews ? { ...merged, isNews: true } : merged)
  }
  return statuses.map((one) => whole.get(one.fingerprint) ?? one)
}

function unusableFor({ key, certificateStatus }: JudgedRecord, trust: Trust): Unusable | null {
  const { fingerprint } = certificateStatus
  if (fingerprint === null) return certificateStatus.unusable ?? 'unparseable'
  if (isMismatch(key, fingerprint)) return 'fingerprint-mismatch'
  if (!trust.isRemembered(key.userId)) return 'not-remembered'
  return certificateStatus.unusable
}

/** The listing of a record; null for one that is false, or was not judged in time. */
function listingOf({ key, certificateStatus, evidence }: JudgedRecord): Listing | null {
  const { fingerprint, unusable } = certificateStatus
  if (fingerprint === null ? unusable === 'deadline' : isMismatch(key, fingerprint)) return null
  return { userId: key.userId, fingerprint, evidence }
}

const isMismatch = (key: UserKey, computed: string): boolean =>
  key.fingerprint !== null && key.fingerprint !== computed
