import { expect, test } from 'vitest'
import { A_KEY, ARMORED, ask, homeScene, outcome, protect, send } from './support.ts'

const open = () => homeScene({ rates: 'off' })
const OTHER = { publicKey: A_KEY.publicKey.replace('xjME', 'xjMF'), fingerprint: 'B'.repeat(40) }

test('a chat under `claim-mode` accepts the bodies of the claimed mode', async () => {
  const { sandbox } = await open()
  await protect(sandbox)
  const { privateChat: chatId } = sandbox.home
  sandbox.fault('claim-mode', { chatId, mode: 'open', historyVisible: true })
  const chat = await ask(sandbox, `GET /chats/${chatId}`)
  expect(chat.result).toMatchObject({ mode: 'open', historyVisible: true })
  expect(await outcome(sandbox, `GET /chats/${chatId}/keys`)).toBe('chat_is_open')
  const armored = await send(sandbox, chatId, { armored: ARMORED })
  expect(armored.error).toMatchObject({ code: 'wrong_body_kind', expected: 'text' })
  sandbox.clearFaults()
  expect((await send(sandbox, chatId, { armored: ARMORED })).status).toBe(201)
})

test('`claim-unprotected` and `claim-fingerprint` change the mode and the fingerprint in `/me`', async () => {
  const { sandbox } = await open()
  await protect(sandbox)
  sandbox.fault('claim-unprotected', { times: 1 })
  const open1 = await ask(sandbox, 'GET /me')
  expect(open1.result).toMatchObject({ mode: 'open', fingerprint: null })
  sandbox.fault('claim-fingerprint', { times: 1, fingerprint: 'C'.repeat(40) })
  expect((await ask(sandbox, 'GET /me')).result).toMatchObject({ fingerprint: 'C'.repeat(40) })
  const truth = await ask(sandbox, 'GET /me')
  expect(truth.result).toMatchObject({ fingerprint: A_KEY.fingerprint })
})

test('`swap-key`, `hide-key` and `ghost` replace, omit and add keys in a key list', async () => {
  const { sandbox, alice, bob, encryptedGroup: chatId } = await open()
  for (const { id } of [alice, bob]) await sandbox.control.publishKey({ userId: id, ...A_KEY })
  const keys = async () => {
    const response = await ask<{ keys: object[] }>(sandbox, `GET /chats/${chatId}/keys`)
    return response.result.keys
  }
  sandbox.fault('swap-key', { userId: bob.id, ...OTHER, times: 2 })
  expect(await keys()).toEqual([
    { userId: alice.id, ...A_KEY },
    { userId: bob.id, ...OTHER },
  ])
  const swapped = await ask(sandbox, `GET /users/${bob.id}/key`)
  expect(swapped.result).toEqual({ userId: bob.id, ...OTHER })
  sandbox.fault('hide-key', { userId: bob.id, times: 1 })
  expect(await keys()).toEqual([{ userId: alice.id, ...A_KEY }])
  sandbox.fault('ghost', { chatId, userId: 41_999_999, ...OTHER, times: 1 })
  expect(await keys()).toHaveLength(3)
  expect(await keys()).toHaveLength(2)
})

test('`claim-kind` changes the kind of a chat in `/chats` and in updates', async () => {
  const { sandbox, alice, privateChat: chatId } = await open()
  sandbox.fault('claim-kind', { chatId, kind: 'group' })
  await sandbox.control.post({ userId: alice.id, chatId, text: 'x' })
  expect((await ask(sandbox, `GET /chats/${chatId}`)).result).toMatchObject({ kind: 'group' })
  const { result } = await ask(sandbox, 'GET /updates')
  expect(result).toMatchObject([{ message: { chat: { id: chatId, kind: 'group' } } }])
})

test('`late-key` delays the effect of a published key', async () => {
  const { sandbox } = await open()
  sandbox.fault('late-key', { delayMs: 5000, times: 1 })
  await protect(sandbox)
  expect((await ask(sandbox, 'GET /me')).result).toMatchObject({ mode: 'open' })
  await sandbox.advance(5000)
  await Promise.resolve()
  expect((await ask(sandbox, 'GET /me')).result).toMatchObject({ mode: 'protected' })
})

test('`injectUpdate` queues any update, with a given or a new id', async () => {
  const { sandbox } = await open()
  const botId = sandbox.home.bot.id
  const forged = { updateId: 7, kind: 'message', message: { id: 1, anything: true } }
  await sandbox.control.injectUpdate({ botId, update: forged })
  const { updateId } = await sandbox.control.injectUpdate({ botId, update: { kind: 'other' } })
  expect((await ask(sandbox, 'GET /updates')).result).toEqual([forged, { updateId, kind: 'other' }])
})
