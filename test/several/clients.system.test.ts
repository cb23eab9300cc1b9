/** Clients of several bots behind one door, and of one bot with two sidecars. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tokenHashOf } from '../../src/api/bot.ts'
import { connectControl } from '../../src/operators/client.ts'
import { hasPostgres } from '../support/postgres.ts'
import type { Sidecar } from '../support/sidecar.ts'
import { usePair } from './pair.ts'
import { startStage, type Stage } from './support.ts'

const OF_BOTH = `pstn_${'b'.repeat(43)}`
const OF_ONE = `pstn_${'o'.repeat(43)}`

describe('clients of two bots of one process', () => {
  let stage: Stage
  const entry = (token: string) => ({
    clients: { list: [{ name: 'reporter', may: ['read'], tokenHash: tokenHashOf(token) }] },
  })
  beforeAll(async () => {
    stage = await startStage({ bots: ['one', 'two'] })
    await stage.ready('one', 'two')
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  const status = async (token: string): Promise<number> =>
    (await stage.call('one', 'GET', '/me', { token })).status

  test('a client token authenticates as the bot that lists it, and as neither bot once both list it', async () => {
    await stage.add('one', entry(OF_ONE))
    await stage.ready('one')
    const called = await stage.call('two', 'GET', '/me', { token: OF_ONE })
    expect(called.json.result.id).toBe(stage.ids.get('one'))
    expect(await status(OF_BOTH)).toBe(401)
    await stage.add('one', entry(OF_BOTH))
    await stage.ready('one')
    expect([await status(OF_BOTH), await status(OF_ONE)]).toEqual([200, 401])
    await stage.add('two', entry(OF_BOTH))
    await stage.ready('two')
    expect(await status(OF_BOTH)).toBe(401)
  })
})

const { stage, other } = await usePair()

describe.skipIf(!hasPostgres())('clients of a bot with two sidecars', () => {
  test('a client added at one sidecar works at both, shares one rate, and its open polls and calls are refused by both once it is removed', async () => {
    await using control = await connectControl(stage.sidecar.dataDir)
    const made = await control?.clientAdd({
      name: 'reporter',
      may: ['send', 'read'],
      chats: ['all'],
      persons: [],
      maxChars: null,
      outbox: 'asked',
      buttons: false,
      files: true,
      rate: '2/d',
    })
    const chat = stage.group([await stage.friend()])
    const headers = { authorization: `Bearer ${made?.token}` }
    const send = async (sidecar: Sidecar) => {
      const body = { chatId: chat.id, text: 'words' }
      const { status, json } = await sidecar.call('POST', '/messages', body, { headers })
      return json.error?.code ?? status
    }
    await expect.poll(() => send(other())).toBe(201)
    expect(await send(stage.sidecar)).toBe(201)
    expect([await send(other()), await send(stage.sidecar)]).toEqual([
      'rate_limited',
      'rate_limited',
    ])
    const poll = (sidecar: Sidecar) =>
      sidecar.call('GET', '/updates?timeout=50', undefined, { headers })
    const open = [poll(other()), poll(stage.sidecar)]
    await expect.poll(() => stage.double.calls('GET', '/updates').length).toBeGreaterThan(0)
    await control?.clientRemove({ name: 'reporter' })
    for (const { status } of await Promise.all(open)) expect(status).toBe(401)
    expect([await send(other()), await send(stage.sidecar)]).toEqual([
      'unauthorized',
      'unauthorized',
    ])
  })
})
