/** Recomputes the chain of the journal, and compares it with its heads. */
import { resultOr } from '../../errors.ts'
import { counted } from '../../printable.ts'
import type { Keyring } from '../../keys/keyring.ts'
import type { Engine } from '../../openpgp/index.ts'
import { CHAIN_START, hashAfter, rowsBetween } from '../../store/journal-chain.ts'
import { KEPT_ENTRIES, keptWith } from '../../store/records/journal.ts'
import type { SchemaRow } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'
import { readHeadText, headText, type JournalHead } from '../../keys/journal-heads.ts'

export interface VerifyParts {
  store: Pick<Store, 'read' | 'rowSeal'>
  keyring: Pick<Keyring, 'all'>
  engine: Pick<Engine, 'readSigned' | 'verify'>
}

/** The result of a verification. */
export type JournalReport = Awaited<ReturnType<typeof verifyOnce>>

export interface Fault {
  entry: number
  what: string
}
type StoredHead = SchemaRow<'journal_heads'>

const NOT_OURS = 'it has no MAC of this store, so Postern did not write it'
/** Kinds of entries that name no person, so that none is ever erased. */
const OF_NOBODY =
  /^(client-(added|rotated|removed|suspended|confirmed)|private-readable|person-forgotten|rows-sealed)$/

/** @param given a head that was kept elsewhere, as `trust log --head` prints it; null for none */
export async function verifyJournal(parts: VerifyParts, given: string | null) {
  const report = await verifyOnce(parts, given)
  // entries may have been erased or removed between the reads
  return report.fault === null ? report : await verifyOnce(parts, given)
}

async function verifyOnce(parts: VerifyParts, given: string | null) {
  const { store } = parts
  const { stored, first, last } = await store.read(async (db) => {
    const heads = await db.selectFrom('journal_heads').selectAll().orderBy('entry').execute()
    const ends = await db
      .selectFrom('journal')
      .select(({ fn }) => [fn.min('id').as('first'), fn.max('id').as('last')])
      .executeTakeFirst()
    return { stored: heads, first: ends?.first ?? null, last: ends?.last ?? null }
  })
  const heads = await Promise.all(
    stored.map(async (row) => ({ row, ...(await judge(parts, row)) })),
  )
  const lastSigned = heads.findLast(({ signer }) => signer !== null)
  const outside = given === null ? null : readHeadText((await readText(parts, given)) ?? given)
  const anchor = stored.find(({ kept }) => kept !== null)
  const compared = [...stored, ...(outside === null ? [] : [outside])].filter(
    ({ entry }) => entry > (anchor?.entry ?? -1),
  )
  const chain = await walk(store, {
    anchor,
    toId: last ?? 0,
    heads: compared,
    signedTo: lastSigned?.row.entry ?? 0,
  })
  const faults = [...heads.flatMap(({ fault }) => fault ?? []), ...chain.faults]
  if (given !== null && outside === null) {
    faults.push({ entry: 0, what: 'the file holds no head of a journal' })
  }
  if (anchor !== undefined && (last ?? 0) - anchor.entry < KEPT_ENTRIES) {
    const what = `the entries up to it were removed, though fewer than ${KEPT_ENTRIES} follow`
    faults.push({ entry: anchor.entry, what })
  }
  if (anchor !== undefined && !store.rowSeal.isSound('journal_heads', anchor)) {
    faults.push({ entry: anchor.entry, what: `${NOT_OURS}, and the entries up to it were removed` })
  }
  const signer = lastSigned?.signer ?? null
  const isCompared = outside !== null && compared.includes(outside)
  return {
    firstId: first,
    lastId: last,
    ...chain.counts,
    heads: {
      signed: heads.filter((head) => head.signer !== null).length,
      unsigned: stored.filter(({ signed }) => signed === null).length,
    },
    /** The last head with a valid signature; its time as ISO 8601. */
    lastSigned:
      lastSigned === undefined || signer === null
        ? null
        : { entry: lastSigned.row.entry, at: new Date(lastSigned.row.at).toISOString(), signer },
    /** The head that was handed in: compared, or of an entry that was removed since. */
    given:
      outside === null ? 'none' : isCompared ? 'compared' : ('removed-since' as keyof typeof GIVEN),
    /** The first entry concerned; null: nothing was changed. */
    fault: faults.toSorted((a, b) => a.entry - b.entry)[0] ?? null,
  }
}

/** Whether a stored head is what one of the bot's keys signed. */
async function judge(parts: VerifyParts, head: StoredHead) {
  if (head.signed === null) return { signer: null, fault: null }
  const fault = { entry: head.entry, what: 'its head is not one that a key of the bot signed' }
  // messages of the bot are signed too
  if (!head.signed.startsWith('-----BEGIN PGP SIGNED MESSAGE-----')) return { signer: null, fault }
  const signed = await parts.engine.readSigned(Buffer.from(head.signed), null)
  if (signed === null || Buffer.from(signed.document).toString() !== headText(head)) {
    return { signer: null, fault }
  }
  for (const { fingerprint, certificate } of parts.keyring.all) {
    // another sidecar's clock may be ahead of this one
    const results = await parts.engine.verify(signed, certificate, Math.max(Date.now(), head.at))
    if (results.includes('valid')) return { signer: fingerprint, fault: null }
  }
  return { signer: null, fault }
}

async function readText({ engine }: VerifyParts, file: string): Promise<string | null> {
  const signed = await engine.readSigned(Buffer.from(file), null)
  return signed && Buffer.from(signed.document).toString()
}

/** Recomputes every hash, and compares it with the stored ones and with heads. */
async function walk(
  store: VerifyParts['store'],
  o: { anchor: StoredHead | undefined; toId: number; heads: JournalHead[]; signedTo: number },
) {
  const counts = {
    entries: 0,
    /** Entries whose content was erased by a later `person-forgotten`. */
    forgotten: 0,
    /** Entries after the last signed head. */
    unsignedEntries: 0,
  }
  const faults: Fault[] = []
  const headsOf = Map.groupBy(o.heads, ({ entry }) => entry)
  /** The remains of erased entries that no later one has named yet. */
  const erased = new Map<number, string>()
  let chain: Uint8Array = o.anchor?.hash ?? CHAIN_START
  let kept: Uint8Array = CHAIN_START
  let isBroken = false
  const visit = (row: SchemaRow<'journal'>): void => {
    const { id } = row
    const isKept = id <= (o.anchor?.entry ?? 0)
    const hash = hashAfter(isKept ? (row.former ?? CHAIN_START) : chain, row)
    if (isKept) kept = keptWith(kept, hash)
    else chain = hash
    counts.entries++
    if (!store.rowSeal.isSound('journal', row)) faults.push({ entry: id, what: NOT_OURS })
    if (id > o.signedTo) counts.unsignedEntries++
    if (!isBroken && !isSame(hash, row.hash)) {
      isBroken = true
      faults.push({ entry: id, what: 'it, or the one before it, is another than was written' })
    }
    for (const head of headsOf.get(id) ?? []) {
      if (isSame(head.hash, hash) || isBroken) continue
      const time = new Date(head.at).toISOString()
      faults.push({
        entry: id,
        what: `it, or one before it, is another than at the head of ${time}`,
      })
    }
    headsOf.delete(id)
    if (row.digest !== null) {
      counts.forgotten++
      // not covered by the hash any more: what the erasure wrote, or a fault
      const names = row.user_id !== null || row.chat_id !== null
      erased.set(id, names || OF_NOBODY.test(row.kind) ? '' : row.detail)
    } else if (row.kind === 'person-forgotten') {
      const { person, entries } = attestedIn(row.detail)
      const remains = JSON.stringify({ forgotten: person })
      for (const one of entries) if (erased.get(one) === remains) erased.delete(one)
    }
  }
  await store.read(async (db) => {
    for await (const rows of rowsBetween(db, { afterId: 0, toId: o.toId })) {
      rows.forEach(visit)
    }
  })
  const { anchor, toId } = o
  if (anchor?.kept && !isSame(kept, anchor.kept)) {
    faults.push({ entry: anchor.entry, what: 'an entry that was kept before it is gone' })
  }
  for (const [entry] of headsOf) {
    const what = entry > toId ? `the entries after ${toId} were cut off` : 'it was removed'
    faults.push({ entry, what: `a head names it, and ${what}` })
  }
  const [unnamed] = erased.keys()
  if (unnamed !== undefined) {
    faults.push({ entry: unnamed, what: 'its content is gone, and no later entry attests that' })
  }
  return { counts, faults }
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

/** The person of a `person-forgotten`, and the entries that it erased; none where it was changed. */
function attestedIn(detail: string): { person: string; entries: number[] } {
  const { person = '', entries = [] } = resultOr(() => JSON.parse(detail), null) ?? {}
  return { person, entries: [entries].flat() }
}

const GIVEN = {
  none: 'only a head kept elsewhere shows that the end was cut off together with its heads',
  compared: 'the head kept elsewhere is of this journal',
  'removed-since': 'the entry of the head kept elsewhere was removed since, as the oldest are',
}

/** A report for people. */
export function describeJournal(report: JournalReport): string[] {
  const { entries, firstId, lastId, heads, lastSigned, forgotten } = report
  const signed =
    lastSigned === null
      ? 'no head is signed: the bot has no key, or key.agent has not answered; keep heads elsewhere'
      : `entry ${lastSigned.entry}, ${lastSigned.at}, by ${lastSigned.signer}`
  return [
    `entries  ${entries}, from ${firstId ?? '-'} to ${lastId ?? '-'}`,
    `chain    ${forgotten} erased`,
    `heads    ${heads.signed} signed, ${heads.unsigned} not`,
    `signed   ${signed}; newer: ${counted(report.unsignedEntries, 'entry', 'entries')}`,
    `given    ${GIVEN[report.given]}`,
  ]
}
