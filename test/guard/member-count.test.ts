import { expect, test } from 'vitest'
import { canary, useStage, type Person } from '../support/double-stage.ts'
import { ok, type Json } from '../support/double-wire.ts'
import type { DoubleChat } from '../support/double-world.ts'

const stage = useStage({ env: { POSTERN_CACHE_KEY_LIST_SECONDS: '0' } })

const record = ({ id, phone }: Person, more: Record<string, unknown> = {}): Json => ({
  userId: id,
  fingerprint: phone.fingerprint,
  publicKey: phone.certificate,
  ...more,
})

async function codeOf(chat: DoubleChat, list: Record<string, unknown>): Promise<unknown> {
  using _list = stage.double.script('GET', `/chats/${chat.id}/keys`, ok(list))
  const sent = await stage.send(chat, canary())
  return sent.status === 201 ? 'sent' : sent.json.error.code
}

test('as many keys as members are one too many, since the bot is a member and not listed', async () => {
  const [a, b] = [await stage.friend(), await stage.person()]
  const group = stage.group([a, b])
  const keys = [record(a), record(b)]
  const inconsistent = 'postern_recipients_inconsistent'
  const invalid = 'postern_upstream_invalid'
  for (const [memberCount, code] of [
    [3, 'sent'],
    [4, 'sent'],
    [2, inconsistent],
    [1, inconsistent],
    [0, inconsistent],
    [-5, inconsistent],
    [Number.MAX_SAFE_INTEGER, 'sent'],
    [2.5, invalid],
    ['9', invalid],
    [null, invalid],
  ] as const) {
    expect(await codeOf(group, { keys, memberCount }), `memberCount ${memberCount}`).toBe(code)
  }
  expect(await codeOf(group, { keys })).toBe('sent')
  // one person, listed twice with the same certificate, is one
  expect(await codeOf(group, { keys: [record(a), record(a)], memberCount: 2 })).toBe('sent')
})

test('a record that names two people belongs to nobody', async () => {
  const [a, b] = [await stage.friend(), await stage.person()]
  const group = stage.group([a])
  const both = record(a, { user: { id: b.id } })
  expect(await codeOf(group, { keys: [both] })).toBe('postern_recipients_inconsistent')
  expect(await codeOf(group, { keys: [record(a, { user: { id: a.id } })] })).toBe('sent')
  // an id beside the userId may be the record's own
  expect(await codeOf(group, { keys: [record(a, { id: 77 })] })).toBe('sent')
})
