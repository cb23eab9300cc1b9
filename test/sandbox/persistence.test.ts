import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/create.ts'
import { observableState, temporaryFolder, copyAsLeftByKill } from './world-file.ts'
import { createReceiver } from '../contract/receiver.ts'
import { A_KEY, ask, BUTTON, outcome, send } from './support.ts'

/** Lives in a world, ends it, and goes on in it. */
async function twice<T>(
  live: (sandbox: Sandbox) => Promise<T>,
  goOn: (sandbox: Sandbox, left: T) => Promise<void>,
  options: SandboxOptions = {},
): Promise<void> {
  const data = join(temporaryFolder(), 'a.world')
  const given: SandboxOptions = { clock: 'still', ...options, data }
  const left = await (async () => {
    await using sandbox = await createSandbox(given)
    return await live(sandbox)
  })()
  await using again = await createSandbox({ ...options, data })
  await goOn(again, left)
}

test('a reopened world has its accounts, chats, messages, queues and transcript', async () => {
  await twice(
    async (sandbox) => {
      const { control, home } = sandbox
      await send(sandbox, home.privateChat, { text: 'x', markup: BUTTON })
      await control.post({ userId: home.alice.id, chatId: home.privateChat, text: 'hello' })
      await control.changeChat({ chatId: home.readableGroup, title: 'Fish', slowModeSeconds: 3 })
      await control.setMembership({
        chatId: home.readableGroup,
        userId: home.bot.id,
        status: 'admin',
      })
      await control.leave({ chatId: home.encryptedGroup, userId: home.bob.id })
      await control.renamePerson({ userId: home.bob.id, username: 'robert' })
      await control.addPerson({ username: 'carol', lastName: 'Late' })
      return { home, before: await observableState(sandbox), now: sandbox.now() }
    },
    async (sandbox, { home, before, now }) => {
      expect(sandbox.home).toEqual(home)
      expect(await observableState(sandbox)).toEqual(before)
      expect(sandbox.now()).toBe(now)
      const members = await ask(sandbox, `GET /chats/${home.readableGroup}/members`)
      expect(members.result).toMatchObject({ memberCount: 3 })
      expect((await ask(sandbox, 'GET /resolve/bob')).result).toMatchObject({ username: 'robert' })
    },
  )
})

test('a reopened world continues its message, update and person ids, also with an empty queue', async () => {
  await twice(
    async (sandbox) => {
      const { control, home } = sandbox
      const place = { userId: home.alice.id, chatId: home.privateChat, text: 'x' }
      const { messageId } = await control.post(place)
      const [update] = await control.queued({ botId: home.bot.id })
      await ask(sandbox, `GET /updates?offset=${(update?.updateId ?? 0) + 1}`)
      const { id } = await control.addPerson({ username: 'carol' })
      return { messageId, updateId: update?.updateId ?? 0, id }
    },
    async (sandbox, last) => {
      const { control, home } = sandbox
      expect(await control.queued({ botId: home.bot.id })).toEqual([])
      const place = { userId: home.alice.id, chatId: home.privateChat, text: 'y' }
      expect((await control.post(place)).messageId).toBe(last.messageId + 1)
      const [update] = await control.queued({ botId: home.bot.id })
      expect(update?.updateId).toBe(last.updateId + 1)
      expect((await control.addPerson({ username: 'dave' })).id).toBe(last.id + 1)
    },
  )
})

test('a reopened world has its sendIds, presses and windows of sends and lookups', async () => {
  const sendId = '5f0c2d0e-8d4f-4d0e-9f43-2f6d7d1a0b11'
  await twice(
    async (sandbox) => {
      const { control, home } = sandbox
      const { readableGroup: chatId, alice } = home
      const { result } = await send(sandbox, chatId, { text: 'x', sendId, markup: BUTTON })
      const press = { userId: alice.id, chatId, messageId: result.id }
      const { callbackId } = await control.press(press)
      await ask(sandbox, `POST /callbacks/${callbackId}/answer`)
      const second = await control.press(press)
      await ask(sandbox, `POST /chats/${chatId}/typing`)
      for (let n = 1; n < 20; n++) await send(sandbox, chatId)
      for (let n = 0; n < 12; n++) await ask(sandbox, 'GET /resolve/nobody_has_it')
      return { chatId, id: result.id, answered: callbackId, open: second.callbackId, press }
    },
    async (sandbox, { chatId, id, answered, open, press }) => {
      expect((await send(sandbox, chatId, { text: 'x', sendId })).result.id).toBe(id)
      const other = { body: { chatId: sandbox.home.privateChat, text: 'x', sendId } }
      expect(await outcome(sandbox, 'POST /messages', other)).toBe('conflict')
      const answer = (callback: string) => outcome(sandbox, `POST /callbacks/${callback}/answer`)
      expect(await answer(answered)).toBe('callback_answered')
      expect((await sandbox.control.press(press)).callbackId).toBe(open)
      expect(await answer(open)).toBe(200)
      const full = await send(sandbox, chatId)
      expect(full.error).toMatchObject({ code: 'flood_wait', retryAfter: 60 })
      expect(await outcome(sandbox, 'GET /resolve/alice')).toBe('flood_wait')
      await sandbox.advance(60_000)
      expect((await send(sandbox, chatId)).status).toBe(201)
    },
  )
})

test('a reopened world has the call windows of each bot and of the address', async () => {
  await twice(
    async (sandbox) => {
      const { token } = await sandbox.control.addBot({ username: 'other_bot' })
      for (let n = 0; n < 600; n++) await ask(sandbox, 'GET /me')
      for (let n = 0; n < 590; n++) await ask(sandbox, 'GET /me', { token })
      return token
    },
    async (sandbox, token) => {
      expect(await outcome(sandbox, 'GET /me')).toBe('rate_limited')
      for (let n = 0; n < 10; n++) expect(await outcome(sandbox, 'GET /me', { token })).toBe(200)
      expect(await outcome(sandbox, 'GET /me', { token: null })).toBe('rate_limited')
    },
  )
})

test('a reopened world has its tokens, pauses, keys, commands and notices to the owner', async () => {
  await twice(
    async (sandbox) => {
      const { control, home } = sandbox
      await ask(sandbox, 'PUT /key', { body: A_KEY })
      const commands = [{ command: 'go', description: 'Go' }]
      await ask(sandbox, 'PUT /commands', { body: { commands } })
      await ask(sandbox, 'PUT /commands', { body: { scope: 'private', commands } })
      await ask(sandbox, 'DELETE /commands?scope=private')
      await control.block({ userId: home.alice.id, botId: home.bot.id })
      const other = await control.addBot({ username: 'other_bot' })
      await ask(sandbox, 'POST /token/revoke', { token: other.token })
      const { token } = await control.issueToken({ botId: home.bot.id })
      await control.pause({ botId: home.bot.id })
      return { token, old: home.bot.token, other }
    },
    async (sandbox, { token, old, other }) => {
      expect(await outcome(sandbox, 'GET /me', { token: old })).toBe('unauthorized')
      expect(await outcome(sandbox, 'GET /me', { token: other.token })).toBe('unauthorized')
      const me = await ask(sandbox, 'GET /me', { token })
      expect(me.result).toMatchObject({ status: 'paused', fingerprint: A_KEY.fingerprint })
      const { ownerNotices } = await sandbox.control.bot({ botId: other.id })
      expect(ownerNotices).toMatchObject([{ kind: 'token_revoked' }])
      await sandbox.control.resume({ botId: sandbox.home.bot.id })
      const { result } = await ask(sandbox, 'GET /commands', { token })
      expect(result).toEqual([
        { scope: 'default', commands: [{ command: 'go', description: 'Go' }] },
      ])
      const body = { chatId: sandbox.home.privateChat, armored: 'x' }
      expect(await outcome(sandbox, 'POST /messages', { body, token })).toBe('blocked_by_user')
    },
  )
})

test('phones of a reopened world have their keys, and files are unchanged', async () => {
  await twice(
    async (sandbox) => {
      const { home } = sandbox
      const [alice, bob] = await Promise.all([
        sandbox.phone(home.alice.id),
        sandbox.phone(home.bob.id),
      ])
      const { mediaId } = await alice.send(home.encryptedGroup, Buffer.from('a file'))
      const stored = await (await fetch(`${sandbox.url}/media/${mediaId}`)).arrayBuffer()
      return {
        fingerprints: [alice.fingerprint, bob.fingerprint],
        mediaId,
        stored,
        changes: [...alice.keyChanges],
      }
    },
    async (sandbox, { fingerprints, mediaId, stored, changes }) => {
      const { home } = sandbox
      const alice = await sandbox.phone(home.alice.id)
      const bob = await sandbox.phone(home.bob.id)
      expect([alice.fingerprint, bob.fingerprint]).toEqual(fingerprints)
      expect(alice.keyChanges).toEqual(changes)
      const messageId = await alice.write(home.encryptedGroup, 'still me')
      const seen = await bob.seen((one) => one.messageId === messageId)
      expect(seen).toMatchObject({ text: 'still me', verdict: 'verified' })
      const again = await (await fetch(`${sandbox.url}/media/${mediaId}`)).arrayBuffer()
      expect(Buffer.compare(Buffer.from(again), Buffer.from(stored))).toBe(0)
    },
  )
})

test('the webhook of a reopened world delivers after the remaining wait', async () => {
  await using receiver = await createReceiver([500, 500])
  await twice(
    async (sandbox) => {
      const { control, home } = sandbox
      const body = { url: receiver.url, secret: 'shh' }
      await ask(sandbox, 'POST /webhook', { body })
      await control.post({ userId: home.alice.id, chatId: home.privateChat, text: 'x' })
      const failed = async (count: number) => {
        for (;;) {
          const { result } = await ask<{ failures: number }>(sandbox, 'GET /webhook')
          if (result.failures === count) return result
        }
      }
      await failed(1)
      await sandbox.advance(1000)
      return await failed(2)
    },
    async (sandbox, before) => {
      expect((await ask(sandbox, 'GET /webhook')).result).toEqual(before)
      expect(receiver.deliveries).toHaveLength(2)
      await sandbox.advance(2000)
      await receiver.until(3)
      expect(receiver.deliveries[2]?.headers['x-service-bot-api-secret-token']).toBe('shh')
      expect(receiver.deliveries[2]?.body).toBe(receiver.deliveries[0]?.body)
    },
    { webhooks: 'local' },
  )
})

test('every answer to a send is on disk when it is sent', async () => {
  // so that nothing but the answer writes
  const later = ((run: () => void) => setTimeout(run, 10_000).unref()) as unknown
  vi.stubGlobal('setImmediate', later)
  onTestFinished(() => void vi.unstubAllGlobals())
  const data = join(temporaryFolder(), 'a.world')
  await using sandbox = await createSandbox({ data, clock: 'still', rates: 'off' })
  const { home } = sandbox
  for (let n = 0; n < 5; n++) {
    const { result } = await send(sandbox, home.readableGroup)
    await using left = await createSandbox({ data: copyAsLeftByKill(data), rates: 'off' })
    const held = await left.control.messages({ chatId: home.readableGroup })
    expect(held.at(-1)?.id).toBe(result.id)
    expect(await observableState(left)).toEqual(await observableState(sandbox))
  }
})

test('the file of a world has mode 0600', async () => {
  const data = join(temporaryFolder(), 'a.world')
  await using _sandbox = await createSandbox({ data })
  expect(statSync(data).mode & 0o777).toBe(0o600)
})

test('a phone of a reopened world has its entries, and continues their numbers', async () => {
  await twice(
    async (sandbox) => {
      const { control, home } = sandbox
      await sandbox.phone(home.alice.id)
      const at = { userId: home.bob.id, chatId: home.readableGroup }
      const { messageId } = await control.post({ ...at, text: 'x' })
      await control.deleteMessage({ ...at, messageId })
      return await control.inbox({ userId: home.alice.id })
    },
    async (sandbox, before) => {
      const { control, home } = sandbox
      const entries = { userId: home.alice.id }
      expect(before.seen.map(({ kind }) => kind)).toEqual(['message', 'deleted'])
      expect(await control.inbox(entries)).toEqual(before)
      await ask(sandbox, `POST /chats/${home.readableGroup}/typing`)
      const { seen } = await control.inbox({ ...entries, after: before.last })
      expect(seen).toMatchObject([{ n: before.last + 1, kind: 'typing' }])
    },
  )
})
