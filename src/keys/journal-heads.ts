/** Heads of the journal: its last entry, signed by the bot's key now and then. */
import type { Keyring } from './keyring.ts'
import { isDecision, type Journal, type TrustChange } from '../kernel/index.ts'
import type { Engine } from '../openpgp/index.ts'
import { hashUpTo } from '../store/journal-chain.ts'
import { upsert } from '../store/records/rows.ts'
import type { SchemaRow } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { Forgotten } from '../store/forgotten.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
/** Decisions within it are under one head. */
const DEBOUNCE_MS = 2000
/** Heads kept beside the one of the last entry that was removed. */
const KEPT_HEADS = 400

export type JournalHead = Pick<SchemaRow<'journal_heads'>, 'entry' | 'hash' | 'at'>

/** The text of a head, which is signed. */
export function headText({ entry, hash, at }: JournalHead): string {
  const time = new Date(at).toISOString()
  const hex = Buffer.from(hash).toString('hex')
  return `Postern journal head\nentry: ${entry}\nhash: ${hex}\ntime: ${time}`
}

/** Reads `headText`; null for any other text. */
export function readHeadText(text: string): JournalHead | null {
  const found = /^entry: (\d{1,15})\nhash: ([0-9a-f]{64})\ntime: (\S+)$/m.exec(text)
  const [, entry, hash = '', time = ''] = found ?? []
  const head = { entry: Number(entry), hash: Buffer.from(hash, 'hex'), at: Date.parse(time) }
  return found !== null && !Number.isNaN(head.at) && headText(head) === text ? head : null
}

export interface JournalHeadsParts {
  store: Store
  keyring: Pick<Keyring, 'active'>
  engine: Pick<Engine, 'signText'>
  /** Purged and settled in the same hours. */
  forgotten?: Pick<Forgotten, 'purge'>
  journal?: Pick<Journal, 'settle'>
  nowMs: () => number
}

export type JournalHeads = ReturnType<typeof createJournalHeads>

/**
 * Signs the last entry soon after a decision of the operator, and once a day. No write waits for it; a
 * head that could not be signed is signed within the hour.
 */
export function createJournalHeads(parts: JournalHeadsParts) {
  const { store, engine, keyring, forgotten, journal, nowMs } = parts
  let soon: NodeJS.Timeout | undefined
  let hourly: NodeJS.Timeout | undefined
  let signing: Promise<void> = Promise.resolve()

  const signInTurn = (when: 'now' | 'daily'): void => {
    // what fails is done within the hour
    signing = signing.then(() => sign(when)).catch(() => undefined)
  }
  /**
   * Signs the last entry, and heads that were left unsigned; with `daily` only where the last head
   * is a day old.
   * @throws Refusal `postern_store_unwritable`
   */
  const sign = async (when: 'now' | 'daily' = 'now'): Promise<void> => {
    const key = keyring.active
    const due = await store.read(async (db) => {
      const last = await db
        .selectFrom('journal')
        .select((row) => row.fn.max('id').as('id'))
        .executeTakeFirst()
      const entry = last?.id ?? 0
      const heads = db.selectFrom('journal_heads').selectAll().where('entry', '<=', entry)
      const rows = await heads.orderBy('entry').execute()
      const unsigned = key === undefined ? [] : rows.filter(({ signed }) => signed === null)
      const newest = rows.at(-1) ?? { entry: 0, at: -Infinity }
      const isDue = when === 'now' || newest.at <= nowMs() - DAY_MS
      if (entry <= newest.entry || !isDue) return unsigned
      return [...unsigned, { entry, hash: await hashUpTo(db, entry) }]
    })
    for (const { entry, hash } of due) {
      // never the time in the row: a row in the database may be dated back
      const at = nowMs()
      const signed = key && (await engine.signText(headText({ entry, hash, at }), key.unlocked, at))
      await store.write(async (db) => {
        const row = { entry, hash, at, signed: signed ?? null }
        await upsert(db, 'journal_heads', 'entry', row)
        const newest = db.selectFrom('journal_heads').select('entry').orderBy('entry', 'desc')
        await db
          .deleteFrom('journal_heads')
          .where('entry', '<', newest.offset(KEPT_HEADS).limit(1))
          .where('kept', 'is', null)
          .execute()
      })
    }
  }

  return {
    /** Signs once a day. */
    start: (): void => {
      hourly = setInterval(() => {
        signInTurn('daily')
        forgotten?.purge().catch(() => undefined)
        journal?.settle().catch(() => undefined)
      }, HOUR_MS).unref()
      signInTurn('daily')
    },
    /** Receives each change of the journal once it is on disk. */
    noted: (change: TrustChange): void => {
      if (!isDecision(change)) return
      soon ??= setTimeout(() => {
        soon = undefined
        signInTurn('now')
      }, DEBOUNCE_MS).unref()
    },
    sign,
    /** The head of the last entry as it was signed; null where there is none. */
    last: async (): Promise<string | null> => {
      const row = await store.read((db) =>
        db.selectFrom('journal_heads').select('signed').orderBy('entry', 'desc').executeTakeFirst(),
      )
      return row?.signed ?? null
    },
    /** Signs a head that waits. */
    [Symbol.asyncDispose]: async (): Promise<void> => {
      clearInterval(hourly)
      clearTimeout(soon)
      if (soon !== undefined) signInTurn('now')
      await signing
      await journal?.settle().catch(() => undefined)
    },
  }
}
