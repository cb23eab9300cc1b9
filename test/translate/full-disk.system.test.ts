import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { canary, useStage } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'
import type { DoubleChat } from '../support/double-world.ts'
import { diskOfFile, fill } from '../store/support.ts'

const { disk, isMounted } = diskOfFile('3m')

describe.skipIf(!isMounted)('a sidecar on a full disk (skipped where none can be mounted)', () => {
  const stage = useStage({ dataDir: join(disk, 'data') })
  let first = 0
  let chat: DoubleChat
  let seen: DoubleChat

  beforeAll(async () => {
    chat = stage.privateChat(await stage.friend())
    await stage.show(chat)
    expect((await stage.send(chat, 'while there is room')).status).toBe(201)
    fill(disk)
  })

  /** Polls as the bot does, which reads the headers too. */
  const poll = () => stage.sidecar.call('GET', `/updates?offset=${first}`)

  test('a poll on a full disk is refused while its update cannot be recorded', async () => {
    const person = await stage.friend()
    const armored = await person.phone.seal('unrecorded', [stage.botCertificate])
    const message = stage.double.world.message(chat, person, { armored })
    first = stage.double.world.push({ kind: 'message', message })
    for (let polls = 0; polls < 2; polls++) {
      const { status, json, headers } = await poll()
      expect([status, json.error.code]).toEqual([503, 'postern_store_unwritable'])
      expect(headers['retry-after']).toBe(String(json.error.retryAfter))
    }
    expect((await stage.sidecar.readiness()).reasons).toContain('store')
  })

  test('a poll on a full disk is refused while the kind of a new chat cannot be recorded', async () => {
    const person = await stage.friend()
    const unknown = stage.privateChat(person)
    const armored = await person.phone.seal('in a new chat', [stage.botCertificate])
    const message = stage.double.world.message(unknown, person, { armored })
    stage.double.world.push({ kind: 'message', message })
    expect((await poll()).status).toBe(503)
  })

  test('a group that becomes protected during a full disk refuses readable text', async () => {
    seen = stage.group([await stage.friend()])
    const shown = await stage.sidecar.call('GET', `/chats/${seen.id}`)
    expect([shown.status, shown.json.error.code]).toEqual([503, 'postern_store_unwritable'])
    Object.assign(seen, { mode: 'open', historyVisible: true })
    const words = canary()
    expect((await stage.send(seen, words)).status).toBe(503)
    stage.expectNowhere(words)
  })

  test('a sealed send on a full disk is refused and does not leave', async () => {
    const group = stage.group([await stage.friend()])
    for (const one of [group, chat]) {
      const words = canary()
      const sent = await stage.send(one, words)
      expect([sent.status, sent.json.error.code]).toEqual([503, 'postern_store_unwritable'])
      stage.expectNowhere(words)
    }
  })

  test('the refused updates and sends succeed once the disk has room', async () => {
    rmSync(join(disk, 'filler'))
    await stage.sidecar.whenReady()
    const { json } = await poll()
    const texts = json.result.map(({ message }: Json) => message.text)
    expect(texts).toEqual(['unrecorded', 'in a new chat'])
    expect((await stage.send(stage.group([await stage.friend()]), 'again')).status).toBe(201)
  })

  test('a group that became protected during a full disk is latched after a restart', async () => {
    await stage.restart()
    const words = canary()
    const sent = await stage.send(seen, words)
    expect([sent.status, sent.json.error.code]).toEqual([409, 'postern_downgrade_refused'])
    stage.expectNowhere(words)
  })
})
