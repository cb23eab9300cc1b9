/** Clients of the door before a real service: what they send, and what they learn from the answers. */
import { describe, expect, test } from 'vitest'
import { BEARER, fetched, named, picture, sealedBy } from '../attachments/support.ts'
import { canary, useStage } from '../support/double-stage.ts'
import type { DoubleChat } from '../support/double-world.ts'

const stage = useStage()
let made = 0

/** Adds a client by command. @returns its calls */
async function client(...flags: string[]) {
  const name = `client-${++made}`
  const { stdout, stderr } = await stage.sidecar.postern('client', 'add', name, ...flags)
  const token = stdout.trim()
  expect(stderr).toContain(`the token of client ${name}`)
  const headers = { authorization: `Bearer ${token}` }
  const call = (method: string, path: string, body?: unknown) =>
    stage.sidecar.call(method, path, body, { headers })
  const send = (chat: DoubleChat, text: string, more: object = {}) =>
    call('POST', '/messages', { chatId: chat.id, text, ...more })
  return { name, token, headers, call, send }
}

const UNUSABLE = { certificate: 'no key', fingerprint: 'ab'.repeat(20) }
const NOT_ALLOWED = [403, 'postern_not_allowed']

test('a client that calls without end is limited, and neither the bot nor another client notices it', async () => {
  const group = stage.group([await stage.friend()])
  const [greedy, other] = [await client('--may', 'read'), await client('--may', 'read')]
  const since = stage.double.mark()
  const calls = await Promise.all(Array.from({ length: 90 }, () => greedy.call('GET', '/me')))
  const passed = calls.filter(({ status }) => status === 200)
  const limited = calls.filter(({ status }) => status === 429)
  // a quarter of the service's 600, for each client alike
  const { stdout } = await stage.sidecar.postern('client', 'list', '--json')
  const count = (JSON.parse(stdout) as unknown[]).length
  expect([passed.length, limited.length]).toEqual([
    Math.floor(150 / count),
    90 - Math.floor(150 / count),
  ])
  expect(limited[0]?.json.error).toMatchObject({ code: 'rate_limited' })
  expect(stage.double.calls('GET', /\/me$/, since).length).toBeLessThan(passed.length + 10)
  expect((await other.call('GET', '/me')).status).toBe(200)
  for (let n = 0; n < 40; n++) expect((await stage.send(group, canary())).status).toBe(201)
})

describe('a client that may send to one group', () => {
  test('a client’s message to its group is sealed, and one to another chat refused', async () => {
    const [alice, bob] = [await stage.friend(), await stage.person()]
    const [group, other] = [stage.group([alice]), stage.group([bob])]
    const { send } = await client('--may', 'send', '--chats', String(group.id))
    const words = canary()
    const since = stage.double.mark()
    expect((await send(group, words)).status).toBe(201)
    const [{ armored }] = stage.bodies(since)
    expect((await alice.phone.open(armored, stage.botCertificate)).text).toBe(words)
    const refused = await send(other, canary())
    expect([refused.status, refused.json.error.code]).toEqual(NOT_ALLOWED)
    expect(stage.bodies(since)).toHaveLength(1)
    stage.expectNowhere(words)
  })

  test('a client without the right `read` receives the number of recipients, and no ids of people', async () => {
    const keyless = stage.double.world.addUser(UNUSABLE)
    const group = stage.group([await stage.friend(), keyless])
    const blind = await client('--may', 'send', '--chats', String(group.id))
    const seeing = await client('--may', 'send,read', '--chats', String(group.id))
    const postern = async ({ send }: typeof blind) =>
      (await send(group, canary())).json.result.postern
    expect(await postern(blind)).toMatchObject({ sealed: true, recipients: 1, skipped: [] })
    expect(await postern(seeing)).toMatchObject({ skipped: [{ userId: keyless.id }] })
  })

  test('a client without the right `read` receives a refusal without ids of people', async () => {
    const keyless = stage.double.world.addUser(UNUSABLE)
    const group = stage.group([keyless])
    const [blind, seeing] = [
      await client('--may', 'send', '--chats', String(group.id)),
      await client('--may', 'send,read', '--chats', String(group.id)),
    ]
    const refusals = [await blind.send(group, canary()), await seeing.send(group, canary())]
    const [hidden, shown] = refusals.map(({ json }) => json.error)
    expect(hidden).toMatchObject({ code: 'postern_recipient_unusable' })
    expect(hidden.message).not.toContain(String(keyless.id))
    expect(shown.message).toContain(String(keyless.id))
  })

  test('a client’s send does not use up the report of a changed key', async () => {
    const person = await stage.person()
    const group = stage.group([person])
    const { send } = await client('--may', 'send', '--chats', String(group.id))
    await stage.send(group, canary())
    const { key } = await stage.person()
    Object.assign(person, { key })
    await stage.restart()
    expect((await send(group, canary())).json.result.postern).not.toHaveProperty('keyChanged')
    const { keyChanged } = (await stage.send(group, canary())).json.result.postern
    expect(keyChanged).toMatchObject([{ userId: person.id }])
  })
})

test('a client receives `/me` without `webhook` and `queued`', async () => {
  const { call } = await client('--may', 'send')
  const { result } = (await call('GET', '/me')).json
  expect(result).toMatchObject({ id: stage.double.world.bot['id'], mode: 'open' })
  expect(Object.keys(result)).not.toEqual(expect.arrayContaining(['webhook']))
  expect(Object.keys(result)).not.toEqual(expect.arrayContaining(['queued']))
  expect(Object.keys((await stage.sidecar.call('GET', '/me')).json.result)).toContain('webhook')
})

test('a client fetches files of its chats, and is refused other and unknown ids alike', async () => {
  const from = await stage.friend()
  const content = picture()
  const group = stage.group([from])
  const url = await named(stage, await sealedBy(from, stage, content), { chat: group, from })
  const path = url.split('?')[0] ?? ''
  const get = async (flags: string[], at = path) => {
    const { headers } = await client(...flags)
    const { status, code, body } = await fetched(stage, at, { headers })
    return body.equals(content) ? 'the file' : [status, code]
  }
  expect(await get(['--may', 'read', '--chats', String(group.id)])).toBe('the file')
  const unknown = await get(['--may', 'read', '--chats', '-1'], '/media/never-named')
  expect(await get(['--may', 'read', '--chats', '-1'])).toEqual(unknown)
  expect(unknown).toEqual(NOT_ALLOWED)
  expect(await get(['--may', 'send', '--chats', 'all'])).toEqual(NOT_ALLOWED)
  expect(await get(['--may', 'read', '--chats', 'all', '--no-files'])).toEqual(NOT_ALLOWED)
  expect((await fetched(stage, path, { headers: BEARER })).body).toEqual(content)
})

test.each([
  ['removed', 'remove'],
  ['rotated', 'rotate'],
])('an open poll of a client that is %s ends with 401', async (_what, command) => {
  const { name, call } = await client('--may', 'read', '--chats', '-1')
  const open = call('GET', '/updates?timeout=50')
  await stage.sidecar.postern('client', command, name)
  const { status, json } = await open
  expect([status, json.error.code]).toEqual([401, 'unauthorized'])
})
