/**
 * Whose a store is: the id of its bot, as a flag, which the first sidecar that runs on it writes. A
 * store is of one bot for as long as it lives, so that no bot gets the keys, people and latches of
 * another by a folder or schema that both were given.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import { OperatorError } from '../errors.ts'
import { flagIn, insertNew, readFlag } from './records/rows.ts'
import type { Schema } from './schema.ts'

const BOT = 'bot_id'

/** The bot of an open or inspected store; null when none has run on it yet. */
export const botIn = (database: DatabaseSync): number | null => idOf(flagIn(database, BOT))

/** The same of a store in a database. */
export const readBot = async (db: Kysely<Schema>): Promise<number | null> =>
  idOf(await readFlag(db, BOT))

const idOf = (flag: string | null): number | null => (flag === null ? null : Number(flag))

/** Where a store is, for people, and the setting that each bot has its own of. */
export interface BotPlace {
  name: string
  setting: 'dataDir' | 'store.schema'
}

/**
 * Claims a store for a bot, unless it belongs to one; of two concurrent bots, one gets it.
 * @param botId null when the token contains no bot id: the store is not claimed
 * @throws OperatorError `store-other-bot`
 */
export async function claimForBot(
  db: Kysely<Schema>,
  botId: number | null,
  place: BotPlace,
): Promise<void> {
  if (botId === null || (await readBot(db)) === botId) return
  await insertNew(db, 'flags', { name: BOT, value: String(botId) })
  refuseOtherBot([await readBot(db), botId], place)
}

/**
 * @param found the bot of the store; null when it belongs to none yet
 * @param wanted the bot of the token; null when the token contains no bot id
 * @throws OperatorError `store-other-bot`
 */
export function refuseOtherBot(
  [found, wanted]: [found: number | null, wanted: number | null],
  place: BotPlace,
): void {
  if (found === null || wanted === null || found === wanted) return
  throw new OperatorError(
    'store-other-bot',
    `the store in ${place.name} is of bot ${found}, and the token is of bot ${wanted}`,
    `give this bot a ${place.setting} of its own, or the token of the bot whose store it is`,
  )
}
