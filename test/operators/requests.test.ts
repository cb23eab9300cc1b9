import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { connectControl } from '../../src/operators/client.ts'
import { usageError } from '../../src/errors.ts'
import { OPERATIONS } from '../../src/operators/operations.ts'
import {
  bodiesOf,
  connected,
  dataFolder,
  operations,
  post,
  serve,
  STATUS,
  talk,
} from './support.ts'

const letters = (length: number): string => 'a'.repeat(length)
const FILE = { file: 'AAAA', passphrase: null }
const MIB = 1024 * 1024
const BODY = 2 * MIB + 1

test('concurrent requests of one connection are answered in order', async () => {
  const control = await connected(dataFolder(), {
    open: async ({ armored }) => {
      await setTimeout(armored === 'first' ? 30 : 0)
      return { opened: true, text: armored, verdict: 'verified' }
    },
  })
  const answers = await Promise.all(['first', 'second'].map((armored) => control.open({ armored })))
  expect(answers.map(({ text }) => text)).toEqual(['first', 'second'])
})

test('a request over 2 MiB is not sent by the client', async () => {
  const control = await connected(dataFolder())
  const armored = 'x'.repeat(2 * MIB - '{"armored":""}'.length)
  await expect(control.open({ armored })).rejects.toMatchObject({ code: 'usage' })
  await expect(control.open({ armored: `${armored}x` })).rejects.toMatchObject({
    code: 'refused',
    message: 'the request is too large',
    hint: 'give less at once',
  })
  expect(await control.status()).toEqual(STATUS)
})

const all = { botList: async () => 'all of them', botReload: async () => 'read again' }
const of = (bot: string | null) => {
  if (bot === 'news') return operations({ chatList: async () => [] })
  throw usageError(`no bot ${bot}`, 'name one')
}

test('a request reaches the bot it names, or all bots', async () => {
  const dataDir = dataFolder()
  await serve(dataDir, {}, { several: { all, of } as never })
  const connect = async (bot: string | null) => {
    const control = await connectControl(dataDir, undefined, bot)
    onTestFinished(() => control?.[Symbol.asyncDispose]())
    return control
  }
  const [news, nobody, none] = [await connect('news'), await connect('x'), await connect(null)]
  expect(await news?.chatList()).toEqual([])
  expect(await news?.status()).toEqual(STATUS)
  for (const one of [news, none]) expect(await one?.botList()).toBe('all of them')
  expect(await none?.botReload()).toBe('read again')
  await expect(nobody?.status()).rejects.toMatchObject({ code: 'usage', message: 'no bot x' })
  await expect(none?.status()).rejects.toMatchObject({ code: 'usage', message: 'no bot null' })
})

test.each([
  ['status', ''],
  ['status', 'null'],
  ['status', '[]'],
  ['status', '{'],
  ['shutdown', '{}'],
  ['toString', '{}'],
  ['', '{}'],
  ['status/now', '{}'],
  ['%', '{}'],
  ['chatAllowReadable', '{"chatIds":[1],"pending":true}'],
])(
  'the request `%s` with the body `%s` is refused, and the next request is answered',
  async (name, body) => {
    const dataDir = dataFolder()
    await serve(dataDir)
    const path = join(dataDir, 'control.sock')
    const text = await talk(path, `${post(name, body)}${post('status')}`, { end: true })
    const [first, second] = bodiesOf(text)
    expect(first).toMatchObject({ error: { code: 'usage' } })
    expect(second).toEqual({ result: STATUS })
  },
)

test('a request for a named bot is refused where there is one bot without a name', async () => {
  const dataDir = dataFolder()
  const status = vi.fn(async () => STATUS)
  await serve(dataDir, { status })
  for (const bot of ['news', '']) {
    await using control = await connectControl(dataDir, undefined, bot)
    await expect(control?.status()).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('there is one bot, which has no name'),
    })
  }
  await using control = await connectControl(dataDir)
  await expect(control?.botList()).rejects.toMatchObject({ code: 'usage' })
  expect(status).not.toHaveBeenCalled()
})

test('an invalid request has the status 400, a failed operation 500, and each answer the version', async () => {
  const dataDir = dataFolder()
  const keyList = () => Promise.reject(new Error('no'))
  await serve(dataDir, { keyList }, { version: '1.2.3' })
  const statuses: (string | undefined)[] = []
  for (const request of [post('x'.repeat(5000)), post('x'), post('keyList'), post('status')]) {
    const text = await talk(join(dataDir, 'control.sock'), request, { end: true })
    expect(text).toMatch(/^postern-version: 1\.2\.3\r$/m)
    statuses.push(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1])
  }
  expect(statuses).toEqual(['400', '400', '500', '200'])
})

test('a request with another method than POST is refused', async () => {
  const dataDir = dataFolder()
  await serve(dataDir)
  const path = join(dataDir, 'control.sock')
  const text = await talk(path, post('status').replace('POST', 'GET'), { end: true })
  expect(bodiesOf(text)).toMatchObject([
    {
      error: {
        code: 'usage',
        message: 'the sidecar does not know this request',
        hint: expect.stringContaining('of one version'),
      },
    },
  ])
})

test.each([
  [
    'over 2 MiB with a length',
    `POST /status HTTP/1.1\r\nhost: x\r\ncontent-length: ${BODY}\r\n\r\n`,
  ],
  [
    'over 2 MiB in chunks',
    `POST /status HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${BODY.toString(16)}\r\n`,
  ],
])('a request %s ends its connection, and other connections are served', async (_name, head) => {
  const dataDir = dataFolder()
  const control = await connected(dataDir)
  const path = join(dataDir, 'control.sock')
  const text = await talk(path, Buffer.concat([Buffer.from(head), Buffer.alloc(BODY, 120)]))
  expect(text).toMatch(/^HTTP\/1.1 400 .*"code":"usage"/s)
  expect(text).not.toContain('9.9.9')
  expect(await control.status()).toEqual(STATUS)
})

test('bytes that are not HTTP end their connection, and other connections are served', async () => {
  const dataDir = dataFolder()
  const control = await connected(dataDir)
  const path = join(dataDir, 'control.sock')
  expect(await talk(path, Buffer.alloc(2 * 1024 * 1024 + 1, 120))).toBe('')
  expect(await talk(path, '{"operation":"status"}\n')).toBe('')
  expect(await control.status()).toEqual(STATUS)
})

const INPUTS: [name: keyof typeof OPERATIONS, accepted: object[], refused: object[]][] = [
  ['keyExport', [{ passphrase: 'x' }, { passphrase: letters(65_536) }], [{ passphrase: '' }, {}]],
  ['keyExport', [{ passphrase: 'x', fingerprint: 'a' }], [{ passphrase: letters(65_537) }]],
  ['keyImport', [FILE, { ...FILE, isRetired: true, mayEndSoon: false }], [{ ...FILE, more: 1 }]],
  ['keyImport', [{ ...FILE, file: letters(MIB) }], [{ ...FILE, file: letters(MIB + 4) }]],
  ['keyImport', [{ ...FILE, passphrase: 'x' }], [{ ...FILE, file: '%' }, { file: 'AAAA' }]],
  ['chatAllowReadable', [{ chatIds: [1] }], [{ chatIds: [] }, { chatIds: [1.5] }, {}]],
  ['chatAllowReadable', [{ private: true }], [{ private: true, pending: true }]],
  [
    'trustLog',
    [{ afterId: 0, sinceMs: -1, limit: 1000 }],
    [{ afterId: 0, sinceMs: 0, limit: 1001 }],
  ],
  ['open', [{ armored: letters(MIB) }], [{ armored: letters(MIB + 1) }, {}]],
]

test.each(INPUTS)(
  'the operation %s accepts its valid inputs and refuses others',
  (name, good, bad) => {
    const isAccepted = (input: object): boolean => OPERATIONS[name].input.safeParse(input).success
    expect([...good, ...bad].map(isAccepted)).toEqual([
      ...good.map(() => true),
      ...bad.map(() => false),
    ])
  },
)
