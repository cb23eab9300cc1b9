import type { Client } from '../../src/clients/records.ts'

/** A client that may send into one chat, but for what is given. */
export const clientOf = (over: Partial<Client> = {}): Client => ({
  name: 'reporter',
  credential: 'h',
  createdAtMs: 1,
  may: ['send'],
  chats: [-5],
  persons: [],
  maxChars: null,
  buttons: false,
  outbox: 'asked',
  files: true,
  rate: null,
  expiresAtMs: null,
  ...over,
})
