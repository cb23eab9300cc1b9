/** Operations on a process that serves several bots, beside those on each bot. */
import { operationsOn, type Calls } from '../util/operation.ts'
import { nothing } from './operation.ts'
import type { BotsReport } from './reports.ts'

/** Changes of the bots by a reload of the settings, by their names. */
export interface BotChanges {
  added: string[]
  removed: string[]
  /** Started anew, since something in their settings is otherwise. */
  changed: string[]
}

const operation = operationsOn<{
  report: () => BotsReport
  folder: () => string | null
  /** @throws OperatorError `settings`: everything goes on as it was */
  reload: () => Promise<BotChanges>
}>()

/** Operations on all bots of a process. */
export const BOTS = {
  /** Which bots there are, and how each is. */
  botList: operation(nothing, ({ report }) => report()),
  /** Where each bot has a file, absolute; null where they are listed. */
  botFolder: operation(nothing, ({ folder }) => ({ folder: folder() })),
  /** Reads the settings again, and serves the bots that they name now. */
  botReload: operation(nothing, ({ reload }) => reload()),
}

export type BotOperations = Calls<typeof BOTS>
