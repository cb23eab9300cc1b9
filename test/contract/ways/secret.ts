import assert from 'node:assert/strict'
import type { Sandbox } from '../../../src/sandbox/create.ts'
import type { Answer, Call } from '../client.ts'
import { WORDS } from './words.ts'

/**
 * After a send or an edit that the service accepted: in an encrypted chat, nothing that it received or
 * that it answered holds the bot's words.
 */
export function checkSecrecy(sandbox: Sandbox, call: Call, answer: Answer): void {
  const isWriting = /^(POST|PATCH)$/.test(call.method) && call.path.startsWith('/messages')
  if (!isWriting || answer.status >= 300) return
  const { chatId, text } = call.body as { chatId?: number; text?: string }
  const isEncrypted = sandbox.chats.some(({ id, mode }) => id === chatId && mode === 'protected')
  const words = WORDS.exec(text ?? '')?.[0]
  if (!isEncrypted || words === undefined) return
  assert.deepEqual(sandbox.transcript.search(words), [], 'the service saw none of the words')
}
