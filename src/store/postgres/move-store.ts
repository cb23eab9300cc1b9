/**
 * Moves a whole store elsewhere: from a data directory into PostgreSQL, or back. At every moment one
 * store at most opens, and an interruption loses nothing: the target is written whole, and does not
 * open; the source is marked as moved, and does not open any more; then the target opens. A second
 * run resumes where the first one stopped.
 */
import { createHash, randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { OperatorError, refusedError } from '../../errors.ts'
import { openExisting, type ProtectionRequest } from '../choose.ts'
import { ARRIVING, moved, MOVED_TO, type MoveMark } from '../flags.ts'
import { corrupt } from '../refusals.ts'
import type { Schema, SchemaRow } from '../schema.ts'
import { CARRIED_TABLES, type Row, type RowSource } from '../carry.ts'
import { TimeSlice } from '../../util/scheduling.ts'

/** Number and digest (hexadecimal) of the rows of each table, independent of their order. */
type TableDigests = Record<string, { rows: number; digest: string }>

const DIGEST_MODULUS = 2n ** 256n

/** One end of a move, which nobody else uses until it is disposed of. */
export interface MoveEnd extends AsyncDisposable {
  /** For people. */
  readonly place: string
  /** Whether there is a store, and its mark. */
  find(): Promise<{ isStore: boolean; mark: MoveMark | null }>
  /** Reads a store, as it is at one moment. */
  withRows<T>(read: (rows: RowSource) => Promise<T>): Promise<T>
  /** Makes a store out of these rows, with the mark, whole or not at all. */
  receive(rows: RowSource, mark: MoveMark): Promise<void>
  /** Writes or removes the mark of a store; it is on disk when this resolves. */
  setMark(mark: MoveMark | null): Promise<void>
  /** Removes a store that is arriving. */
  discard(): Promise<void>
}

export interface RelocateOptions {
  from: MoveEnd
  to: MoveEnd
  /** How the store's protection is opened. */
  request: ProtectionRequest
  /** Opens a key; rejects when it does not open, or is another one. */
  tryKey: (key: { fingerprint: string; locked: string }, masterSecret: string) => Promise<void>
}

/**
 * Moves the store of one end to the other.
 * @returns the moved rows of each table, null when they had been moved before, and the end alone was
 *   left to do; and how many keys opened
 * @throws OperatorError `store-missing`, `store-moved`, `refused` when the target holds a store,
 *   `store-corrupt` when the arrived rows differ or the store does not open; and errors of the ends
 */
export async function relocate(o: RelocateOptions) {
  const { from, to } = o
  const [source, target] = [await from.find(), await to.find()]
  if (!source.isStore) throw noStore(from)
  if (source.mark?.flag === ARRIVING) throw moved(source.mark, from.place)
  if (source.mark !== null) return await finish(o, source.mark, target.mark)
  if (target.isStore && target.mark?.flag !== ARRIVING) throw taken(to, target.mark)
  // it is of a move that was interrupted before the source was given up, which may have gone on
  if (target.isStore) await to.discard()
  const mark = { id: randomUUID(), at: new Date().toISOString() }
  const arriving = { ...mark, flag: ARRIVING, place: from.place } as const
  const tables = await from.withRows(async (rows) => {
    await to.receive(rows, arriving)
    return await digestAll(rows)
  })
  const keys = await to.withRows(async (rows) => {
    compare(tables, await digestAll(rows))
    return await tryAll(rows, o)
  })
  await from.setMark({ ...mark, flag: MOVED_TO, place: to.place })
  await to.setMark(null)
  return { tables, keys }
}

/** Resumes when the source is already marked as moved: the whole target is then opened. */
async function finish(o: RelocateOptions, left: MoveMark, arrived: MoveMark | null) {
  if (arrived?.flag !== ARRIVING || arrived.id !== left.id) throw moved(left, o.from.place)
  const keys = await o.to.withRows((rows) => tryAll(rows, o))
  await o.to.setMark(null)
  return { tables: null, keys }
}

function compare(left: TableDigests, arrived: TableDigests): void {
  const other = Object.keys(left).find((table) => !isDeepStrictEqual(left[table], arrived[table]))
  if (other !== undefined) throw corrupt(`the table ${other} did not arrive as it left`)
}

/** Opens everything secret. @returns how many keys opened */
async function tryAll(rows: RowSource, { request, tryKey }: RelocateOptions): Promise<number> {
  const [protection] = await all(rows, 'protection')
  const secrets = await all(rows, 'secrets')
  const keys = await all(rows, 'own_keys')
  if (protection === undefined) {
    if (secrets.length + keys.length > 0) throw corrupt('the record of its protection is gone')
    return 0
  }
  const held = await openExisting(protection, request)
  for (const { name, sealed } of secrets) held.sealer.unseal(name, sealed)
  const locked = keys.filter((key) => key.locked !== '')
  for (const key of locked) await tryKey(key, held.masterSecret)
  return locked.length
}

async function all<Table extends keyof Schema>(source: RowSource, table: Table) {
  const found: SchemaRow<Table>[] = []
  for await (const rows of source(table)) found.push(...(rows as SchemaRow<Table>[]))
  return found
}

const noStore = ({ place }: MoveEnd): OperatorError =>
  new OperatorError(
    'store-missing',
    `there is no store in ${place}`,
    'the settings say where the store is that moves: in the database of store.url, else in dataDir',
  )

function taken({ place }: MoveEnd, mark: MoveMark | null): OperatorError {
  const what = mark === null ? 'a store' : 'the store that was moved away from there'
  return refusedError(
    `${place} holds ${what}, and nothing is moved over it`,
    'move it aside first, or name another place',
  )
}

/** Counts and digests of every table, without the marks of a move. */
async function digestAll(source: RowSource): Promise<TableDigests> {
  const digests: TableDigests = {}
  const slice = new TimeSlice()
  for (const table of CARRIED_TABLES) {
    let [count, sum] = [0, 0n]
    for await (const rows of source(table)) {
      for (const row of rows) {
        if (table === 'flags' && isMark(row)) continue
        count += 1
        sum = (sum + digestOf(row)) % DIGEST_MODULUS
        await slice.yieldIfOver()
      }
    }
    digests[table] = { rows: count, digest: sum.toString(16) }
  }
  return digests
}

const isMark = ({ name }: Row): boolean => name === ARRIVING || name === MOVED_TO

function digestOf(row: Row): bigint {
  const fields = Object.keys(row)
    .toSorted()
    .map((name) => [name, plain(row[name])])
  return BigInt(`0x${createHash('sha256').update(JSON.stringify(fields)).digest('hex')}`)
}

/** A value as both databases give it; their texts differ in NUL alone, which one does not know. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('base64') }
  return typeof value === 'string' ? value.replaceAll('\0', '\u{FFFD}') : value
}
