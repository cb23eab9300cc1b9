import { randomUUID } from 'node:crypto'
import type { NewEntry } from '../../src/outbox/entries.ts'

/** A send by the bot that is due. */
export const entryOf = (more: Partial<NewEntry> = {}): NewEntry => ({
  id: randomUUID(),
  chatId: 1,
  messageId: null,
  isForSealed: true,
  client: null,
  createdAtMs: 0,
  dueAtMs: 0,
  ...more,
})
