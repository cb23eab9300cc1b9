/** Erases a person from every table of a store. */
import type { Kysely } from 'kysely'
import type { Vouched } from '../../kernel/index.ts'
import { contentDigest } from '../journal-chain.ts'
import type { RowSeal } from '../row-seal.ts'
import type { Schema, SchemaRow } from '../schema.ts'
import { Rows, changeRows, chunksOf, findRow, findRows, upsert } from './rows.ts'

const IDS_AT_ONCE = 500
/** Tables whose rows are about one person, by `user_id`. */
const OF_PERSON = 'pins people names key_changes encryption_keys outcomes'.split(
  ' ',
) as (keyof Schema)[]
const FINGERPRINT = /^(forgotten:)?[0-9a-f]{32,40}$/

/** A person as the store knows them, and what stays under keyed hashes. */
export interface ErasedPerson {
  userId: number
  /** In place of the id. */
  alias: string
  /** In place of a fingerprint of theirs. */
  pinOf: (fingerprint: string) => string
  seal: RowSeal
}

/** The effect of an erasure. */
export type Erasure = Awaited<ReturnType<typeof erasePerson>>

/**
 * Erases a person; run it within one write, before the journal's entry about it.
 * @returns `rows` erased by table, where of those that name others too only the person is gone;
 *   `entries` of the journal whose content was erased, by id; `chats` whose kind and latch stay;
 *   certificates: `revoked`, of which nothing else stays, and `shared`, which others have or had
 */
export async function erasePerson(db: Kysely<Schema>, person: ErasedPerson) {
  const { userId } = person
  const named = await fingerprintsOf(db, userId)
  const shared = await sharedOf(db, userId, named)
  const fingerprints = named.filter((one) => !shared.includes(one))
  const sealed = new Rows(db, person.seal)
  const chats = (await sealed.sound('chats', { person_id: userId })).map(({ id }) => id)
  const rows: Record<string, number> = {}
  await keepUnderAlias(db, person)
  for (const table of OF_PERSON) rows[table] = await erase(db, table, 'user_id', [userId])
  rows['media'] = await erase(db, 'media', 'sender', [String(userId)])
  rows['outcomes']! += await erase(db, 'outcomes', 'signer', fingerprints)
  for (const table of ['outcomes', 'sent', 'media', 'lists'] as const) {
    rows[table] = (rows[table] ?? 0) + (await erase(db, table, 'chat_id', chats))
  }
  await sealed.change('chats', { person_id: userId }, { person_id: null })
  await changeRows(db, 'seen', { user_id: userId }, { user_id: null })
  rows['lists'] = (rows['lists'] ?? 0) + (await leaveLists(db, userId))
  rows['sent'] = (rows['sent'] ?? 0) + (await leaveSent(db, userId))
  const { erased, revoked } = await eraseCertificates(db, person, fingerprints)
  rows['certificates'] = erased
  const entries = await eraseEntries(db, person, { chats, fingerprints })
  return { rows, entries, chats, fingerprints: named, revoked, shared }
}

/** Deletes the rows whose column has one of these values. @returns how many */
async function erase(
  db: Kysely<Schema>,
  table: keyof Schema,
  column: string,
  values: readonly unknown[],
): Promise<number> {
  let erased = 0
  for (const some of chunksOf(values, IDS_AT_ONCE)) {
    // one table for all, or the types of Kysely are too many
    const query = db.deleteFrom(table as 'flags').where(column as 'name', 'in', some as string[])
    erased += Number((await query.executeTakeFirstOrThrow()).numDeletedRows)
  }
  return erased
}

async function fingerprintsOf(db: Kysely<Schema>, userId: number): Promise<string[]> {
  const pins = await findRows(db, 'pins', { user_id: userId })
  const changes = await findRows(db, 'key_changes', { user_id: userId })
  const owned = db.selectFrom('certificates').select('fingerprint').where('owner', '=', userId)
  const entries = db.selectFrom('journal').select('detail').where('user_id', '=', userId)
  type Named = Partial<Record<'fingerprint' | 'from' | 'to', string>>
  const details = [
    ...pins.flatMap(({ vouched }) => vouched ?? []),
    ...(await entries.execute()).map(({ detail }) => detail),
  ].map((one) => JSON.parse(one) as Named)
  const found = [
    ...pins.flatMap(({ fingerprint, listed, former }) => [fingerprint, listed, former]),
    ...details.flatMap(({ fingerprint, from, to }) => [fingerprint, from, to]),
    ...changes.flatMap(({ before, now }) => [before, now]),
    ...(await owned.execute()).map(({ fingerprint }) => fingerprint),
  ]
  return [...new Set(found.flatMap((one) => one ?? []))].filter((one) => FINGERPRINT.test(one))
}

/** Those that others are or were listed with, and the bot's own: entries about them concern others. */
async function sharedOf(db: Kysely<Schema>, userId: number, fingerprints: readonly string[]) {
  const pins = db.selectFrom('pins').select('user_id').where('user_id', '!=', userId)
  const entries = db.selectFrom('journal').select('user_id').where('user_id', '!=', userId)
  const shared: string[] = []
  for (const fingerprint of fingerprints) {
    const columns = ['fingerprint', 'listed', 'former'] as const
    const listed = pins.where((pin) => pin.or(columns.map((one) => pin(one, '=', fingerprint))))
    const found =
      (await listed.executeTakeFirst()) ??
      (await entries.where('detail', 'like', `%${fingerprint}%`).executeTakeFirst()) ??
      (await findRow(db, 'own_keys', { fingerprint }))
    if (found !== undefined) shared.push(fingerprint)
  }
  return shared
}

/** Writes the pin and the duty to sign under the alias; what a former erasure kept stays else. */
async function keepUnderAlias(db: Kysely<Schema>, o: ErasedPerson): Promise<void> {
  const { userId: user_id, alias, pinOf, seal } = o
  const sealed = new Rows(db, seal)
  const [pin] = await sealed.sound('pins', { user_id })
  const signer = await findRow(db, 'people', { user_id })
  const [former] = await sealed.sound('forgotten', { person: alias })
  const { fingerprint = null, standing = former?.standing ?? 'seen' } = pin ?? {}
  const row = seal.seal('forgotten', {
    person: alias,
    pin: pin === undefined ? (former?.pin ?? null) : fingerprint && pinOf(fingerprint),
    standing,
    since: pin?.since ?? former?.since ?? 0,
    vouched: pin === undefined ? (former?.vouched ?? null) : hashedIn(pin.vouched, pinOf),
    signed_at: signer?.signed_at ?? former?.signed_at ?? null,
    signed_files_at: signer?.signed_files_at ?? former?.signed_files_at ?? null,
  })
  await upsert(db, 'forgotten', 'person', row)
}

/** What an authority certified, without the fingerprint. */
function hashedIn(vouched: string | null, pinOf: ErasedPerson['pinOf']): string | null {
  if (vouched === null) return null
  const proof = JSON.parse(vouched) as Vouched
  return JSON.stringify({ ...proof, fingerprint: pinOf(proof.fingerprint) })
}

/** Removes the person from the key lists of groups. */
async function leaveLists(db: Kysely<Schema>, userId: number): Promise<number> {
  const mention = `%[${userId},%`
  const rows = await db
    .selectFrom('lists')
    .selectAll()
    .where((row) => row.or([row('people', 'like', mention), row('ever', 'like', mention)]))
    .execute()
  const without = (json: string): string =>
    JSON.stringify((JSON.parse(json) as [number, ...unknown[]][]).filter(([id]) => id !== userId))
  for (const { chat_id, people, ever } of rows) {
    const left = { people: without(people), ever: without(ever) }
    await changeRows(db, 'lists', { chat_id }, left)
  }
  return rows.length
}

/** Removes the person from skipped recipients. */
async function leaveSent(db: Kysely<Schema>, userId: number): Promise<number> {
  const rows = await db
    .selectFrom('sent')
    .select(['message_id', 'skipped'])
    .where('skipped', 'like', `%${userId}%`)
    .execute()
  for (const { message_id, skipped } of rows) {
    const all = JSON.parse(skipped) as { userId: number }[]
    const others = all.filter((one) => one.userId !== userId)
    await changeRows(db, 'sent', { message_id }, { skipped: JSON.stringify(others) })
  }
  return rows.length
}

async function eraseCertificates(
  db: Kysely<Schema>,
  { userId, seal }: ErasedPerson,
  fingerprints: readonly string[],
): Promise<{ erased: number; revoked: string[] }> {
  const sealed = new Rows(db, seal)
  await sealed.change('certificates', { owner: userId }, { owner: null })
  // of forged rows
  await changeRows(db, 'certificates', { owner: userId }, { owner: null })
  const bare = { copy: null, copy_digest: null, revoked_armored: '' }
  const leaveRevoked = async (fingerprint: string): Promise<void> => {
    if (await sealed.change('certificates', { fingerprint }, bare)) return
    const row = seal.seal('certificates', { fingerprint, owner: null, ...bare })
    await upsert(db, 'certificates', 'fingerprint', row)
  }
  const result = { erased: 0, revoked: [] as string[] }
  for (const fingerprint of fingerprints) {
    // copies with what a certifier revoked of it
    const certified = db.selectFrom('certificates').select('fingerprint')
    const named = await certified.where('fingerprint', 'like', `${fingerprint} %`).execute()
    for (const one of named) await leaveRevoked(one.fingerprint)
    const known = await findRow(db, 'certificates', { fingerprint })
    if (known?.revoked_armored == null) {
      result.erased += await erase(db, 'certificates', 'fingerprint', [fingerprint])
    } else {
      result.revoked.push(fingerprint)
      await leaveRevoked(fingerprint)
    }
  }
  return result
}

/** Fields of entries that hold ids of people. */
const PEOPLE_IN = new Set('people added removed changed stranger owner before by'.split(' '))

async function eraseEntries(
  db: Kysely<Schema>,
  { userId, alias }: ErasedPerson,
  { chats, fingerprints }: { chats: readonly number[]; fingerprints: readonly string[] },
): Promise<number[]> {
  const ofChats = new Set(chats)
  const names = ({ user_id, chat_id, detail, digest }: SchemaRow<'journal'>): boolean => {
    const isOfOther = user_id !== null && user_id !== userId
    if (digest !== null || isOfOther) return false
    if (user_id === userId || (chat_id !== null && ofChats.has(chat_id))) return true
    const fields = Object.entries(JSON.parse(detail) as object)
    return fields.some(([name, value]: [string, unknown]) => {
      if (PEOPLE_IN.has(name) && [value].flat().includes(userId)) return true
      return typeof value === 'string' && fingerprints.includes(value)
    })
  }
  const found = new Map<number, SchemaRow<'journal'>>()
  const needles = [String(userId), ...fingerprints]
  const all = db.selectFrom('journal').selectAll().where('digest', 'is', null)
  const wholes = [
    all.where('user_id', '=', userId),
    ...chunksOf(chats, IDS_AT_ONCE).map((some) => all.where('chat_id', 'in', some)),
    ...needles.map((needle) => all.where('detail', 'like', `%${needle}%`)),
  ]
  for (const whole of wholes) {
    for (const row of await whole.execute()) if (names(row)) found.set(row.id, row)
  }
  const detail = JSON.stringify({ forgotten: alias })
  const erased = { user_id: null, chat_id: null, detail, salt: null }
  for (const [id, row] of found) {
    await changeRows(db, 'journal', { id }, { ...erased, digest: contentDigest(row) })
  }
  return [...found.keys()].toSorted((a, b) => a - b)
}
