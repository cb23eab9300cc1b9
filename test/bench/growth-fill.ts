/** Rows as a long life leaves them, written straight into the store of a sidecar that has stopped. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** How many rows a store shall have in all; absent: as it is. */
export interface Fill {
  chats?: number
  people?: number
  /** Rows of the memory against replays. */
  seen?: number
  /** The bot's key was published only now, so that words of before it are accepted. */
  isKeyNew?: boolean
  /** The share of their bounds that the other tables reach. */
  others?: number
}

/** Bounds of `src`: each is a constant of the file named. */
export const BOUNDS = {
  // kernel/wall/known-chats.ts
  chats: 250_000,
  // kernel/people/trust.ts, and the revocations of certificates.ts
  people: 250_000,
  // kernel/people/certificates.ts
  copies: 20_000,
  wholeRevocations: 20_000,
  // store/records/journal.ts
  journal: 500_000,
  // kernel/opening/named-media.ts
  media: 50_000,
  // store/outcomes.ts
  outcomes: 50_000,
  // store/records/certificates.ts
  encryptionKeys: 500_000,
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** How long rows of `seen` are kept. */
export const KEPT_MS = 31 * DAY_MS
/** Ids that no account and no chat of the sandbox has. */
const FIRST_ID = 4_000_000_000
/** Characters of an armored certificate with one subkey. */
const ARMORED = 900

/** `i` from 1 to `?1`. */
const NUMBERS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)'
const FINGERPRINT = 'lower(hex(randomblob(20)))'

/** The file of a store in a data directory. */
export const databaseIn = (dataDir: string): string => join(dataDir, 'postern.db')

/** Fills the store of a data directory. The rows are random but for their ids. */
export function fill(dataDir: string, o: Fill): void {
  using database = new DatabaseSync(databaseIn(dataDir))
  const now = Date.now()
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -4000000')
  const add = (table: string, count: number, columns: Record<string, string>): void => {
    const missing = count - rowsIn(database, table)
    if (missing <= 0) return
    const names = Object.keys(columns).join(', ')
    const select = `SELECT ${Object.values(columns).join(', ')} FROM n`
    database.prepare(`INSERT INTO ${table} (${names}) ${NUMBERS} ${select}`).run(missing)
  }
  database.exec('BEGIN')
  if (o.chats !== undefined) {
    const id = `${FIRST_ID} + i`
    const pair = `json_array(${FIRST_ID} + 2 * i, ${FINGERPRINT})`
    add('chats', o.chats, {
      id,
      kind: `iif(i % 2, 'private', 'group')`,
      latched_at: String(now),
      person_id: `iif(i % 2, ${FIRST_ID} + i, NULL)`,
    })
    add('lists', o.chats, { chat_id: id, people: `json_array(${pair}, ${pair})`, ever: "'[]'" })
  }
  if (o.people !== undefined) addPeople(add, o.people, now)
  if (o.seen !== undefined) addSeen(add, o.seen, now)
  if (o.others !== undefined) addOthers(database, add, { share: o.others, now })
  if (o.isKeyNew === true) {
    const change = "UPDATE flags SET value = ? WHERE name = 'first_published_at'"
    database.prepare(change).run(String(now + HOUR_MS))
  }
  database.exec('COMMIT; PRAGMA journal_mode = WAL')
}

type Add = (table: string, count: number, columns: Record<string, string>) => void

/** How many rows a table has. */
export function rowsIn(database: DatabaseSync, table: string): number {
  return Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n'])
}

/** People with a certificate each, all of whom have signed. */
function addPeople(add: Add, people: number, now: number): void {
  const userId = `${FIRST_ID} + i`
  // the same for the columns and tables of a person
  const fingerprint = `printf('%040x', i * 2654435761)`
  add('pins', people, {
    user_id: userId,
    fingerprint,
    since: String(now),
    standing: "'seen'",
    listed: fingerprint,
    listed_at: String(now),
  })
  add('people', people, { user_id: userId, signed_at: String(now), signed_files_at: String(now) })
  add('names', people, { user_id: userId, username: `printf('person_%d', i)` })
  add('encryption_keys', people, {
    key_id: 'lower(hex(randomblob(8)))',
    user_id: userId,
    since: String(now),
  })
  add('certificates', Math.min(people, BOUNDS.copies), {
    fingerprint,
    copy: `hex(randomblob(${ARMORED / 2}))`,
    copy_digest: 'hex(randomblob(22))',
  })
}

/** Half data, half the signatures on it, evenly over the time that they are kept. */
function addSeen(add: Add, seen: number, now: number): void {
  const at = `${now - KEPT_MS} + CAST(i * ${KEPT_MS / seen} AS INTEGER)`
  add('seen', seen, {
    digest: 'randomblob(32)',
    kind: `iif(i % 2, 'data', 'signature')`,
    chat_id: `${FIRST_ID} + i / 2 % 1000`,
    message_id: 'i / 2',
    user_id: `${FIRST_ID} + i / 2 % 5000`,
    seen_at: at,
    update_id: 'i / 2',
    dated_at: at,
    is_signed: '1',
  })
}

/** What else has a bound. */
function addOthers(
  database: DatabaseSync,
  add: Add,
  { share, now }: { share: number; now: number },
): void {
  // each at a time of its own: the oldest are removed by time
  const [userId, chatId, at] = [`${FIRST_ID} + i`, `${FIRST_ID} + i % 1000`, `${now} - i`]
  const of = (bound: number): number => Math.round(bound * share)
  const change = { before: FINGERPRINT, now: FINGERPRINT }
  add('key_changes', of(BOUNDS.people), {
    user_id: userId,
    ...change,
    message: "'u1'",
    send: "'s1'",
  })
  add('encryption_keys', of(BOUNDS.encryptionKeys), {
    key_id: 'lower(hex(randomblob(8)))',
    user_id: userId,
    since: at,
  })
  const revoked = {
    fingerprint: FINGERPRINT,
    revoked_armored: `iif(i > ${of(BOUNDS.wholeRevocations)}, '', hex(randomblob(${ARMORED / 2})))`,
  }
  add('certificates', rowsIn(database, 'certificates') + of(BOUNDS.people), revoked)
  add('journal', of(BOUNDS.journal), {
    at,
    kind: "'key-changed'",
    user_id: userId,
    detail: `json_object('from', ${FINGERPRINT}, 'to', ${FINGERPRINT}, 'standing', 'seen')`,
  })
  add('media', of(BOUNDS.media), {
    id: 'hex(randomblob(16))',
    chat_id: chatId,
    sender: userId,
    named_at: at,
    digest: 'randomblob(32)',
  })
  add('outcomes', of(BOUNDS.outcomes), {
    update_id: 'i',
    at,
    chat_id: chatId,
    message_id: 'i',
    user_id: userId,
    verdict: "'verified'",
    delivered: '1',
    opened_with: FINGERPRINT,
    signer: FINGERPRINT,
  })
  add('sent', of(BOUNDS.outcomes), {
    message_id: `${FIRST_ID} + i`,
    at,
    chat_id: chatId,
    recipients: '3',
    skipped: "'[]'",
  })
}
