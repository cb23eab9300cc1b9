/** How one of several bots is named, and who is meant by a name. */
import { OperatorError, usageError } from '../errors.ts'
import { listFirst } from '../printable.ts'

/** A bot's name is that of its folder in `dataDir`, of a label and of a field in the log. */
export const BOT_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/

const MAX_LISTED = 20

/**
 * The bot of a name.
 * @param named null when none was named
 * @throws OperatorError `usage` when none has it, or none was named
 */
export function pickBot<T extends { name: string }>(bots: readonly T[], named: string | null): T {
  const found = bots.find(({ name }) => name === named)
  if (found !== undefined) return found
  const names = bots.map(({ name }) => name)
  const list = bots.length === 0 ? 'none yet' : listFirst(names, MAX_LISTED, ', and')
  throw usageError(
    named === null ? 'there are several bots, and none is named' : 'there is no bot of that name',
    `name one with --bot: ${list}`,
  )
}

/**
 * The refusal of a name where there is only one bot, which has none.
 * @returns OperatorError `usage`
 */
export const onlyBot = (): OperatorError =>
  usageError(
    'there is one bot, which has no name',
    'leave --bot out; several bots are set by `bots`',
  )
