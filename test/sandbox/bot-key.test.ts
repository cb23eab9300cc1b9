import { expect, test } from 'vitest'
import { A_KEY, ask, outcome, protect, still } from './support.ts'

test('publishing a key makes the bot and its private chats protected', async () => {
  await using sandbox = await still()
  const { privateChat, readableGroup, encryptedGroup } = sandbox.home
  const mode = async (id: number) =>
    (await ask<{ mode: string }>(sandbox, `GET /chats/${id}`)).result.mode
  expect(await mode(privateChat)).toBe('open')
  const response = await ask(sandbox, 'PUT /key', { body: A_KEY })
  expect(response.status).toBe(200)
  expect(response.result).toEqual({ fingerprint: A_KEY.fingerprint, mode: 'protected' })
  expect(await mode(privateChat)).toBe('protected')
  expect(await mode(readableGroup)).toBe('open')
  expect(await mode(encryptedGroup)).toBe('protected')
})

test('only the owner takes the key away, and then the chats are readable again', async () => {
  await using sandbox = await still()
  await protect(sandbox)
  expect(await outcome(sandbox, 'DELETE /key')).toBe('not_found')
  await sandbox.control.removeKey({ botId: sandbox.home.bot.id })
  const { result } = await ask(sandbox, `GET /chats/${sandbox.home.privateChat}`)
  expect(result).toMatchObject({ mode: 'open' })
})

test('another key rotates', async () => {
  await using sandbox = await still()
  await protect(sandbox)
  const fingerprint = 'b'.repeat(64)
  await ask(sandbox, 'PUT /key', { body: { ...A_KEY, fingerprint } })
  expect((await ask(sandbox, 'GET /me')).result).toMatchObject({ mode: 'protected', fingerprint })
})

test('a fingerprint of another length, a key that is none, or one too long is refused', async () => {
  await using sandbox = await still()
  const put = (changes: object) => outcome(sandbox, 'PUT /key', { body: { ...A_KEY, ...changes } })
  expect(await put({ fingerprint: 'A'.repeat(39) })).toBe('bad_request')
  expect(await put({ fingerprint: 'G'.repeat(40) })).toBe('bad_request')
  expect(await put({ publicKey: 'key' })).toBe('bad_request')
  expect(await put({ publicKey: A_KEY.publicKey.padEnd(65_537) })).toBe('bad_request')
  expect(await put({ publicKey: A_KEY.publicKey.padEnd(65_536) })).toBe(200)
  expect(await outcome(sandbox, 'PUT /key', { body: { publicKey: A_KEY.publicKey } })).toBe(
    'bad_request',
  )
})
