/** The suite against an implementation by its two addresses; here a sandbox. */
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { spawn } from '../support/programs.ts'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, expect, it } from 'vitest'
import { createSandbox } from '../../src/sandbox/create.ts'
import { mortal } from '../support/mortal.ts'
import { ALL_CASES } from './cases/all.ts'
import { ControlDriver } from './ways/control-driver.ts'

const sandbox = await createSandbox({ webhooks: 'local', receiverPatienceMs: 500 })
const { url, controlUrl } = sandbox
const at = { url, controlUrl, localWebhooks: true, hostNames: false }
const JSON_TYPE = { 'content-type': 'application/json' }
afterAll(() => sandbox[Symbol.asyncDispose]())

/** Runs the command to its end. */
async function contract(...args: string[]) {
  const child = spawn(...mortal(process.execPath, ['test/contract/run.ts', ...args]), {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr] = [text(child.stdout), text(child.stderr)]
  const [code] = (await once(child, 'close')) as [number]
  return { code, stdout: await stdout, stderr: await stderr }
}

it('`npm run contract -- --control` plays every case, lists the proven statements, and keeps the world', async () => {
  const before = { bots: sandbox.bots, chats: sandbox.chats }
  const { alice, privateChat } = sandbox.home
  await sandbox.control.post({ userId: alice.id, chatId: privateChat, text: 'kept' })

  const ran = await contract('--url', url, '--control', controlUrl, '--local-webhooks')

  expect([ran.code, ran.stderr]).toEqual([0, ''])
  const [, held, broken] = /(\d+) hold, (\d+) broken/.exec(ran.stdout) ?? []
  expect([Number(held) > 180, broken]).toEqual([true, '0'])
  expect(ran.stdout).toMatch(/^\d+ of \d+ statements of the specification were shown to hold$/m)
  expect(ran.stdout).toMatch(/^ {2}GET \/updates: (\d+) of \1$/m)
  expect(sandbox.bots.slice(0, 1)).toEqual(before.bots)
  expect(sandbox.chats.slice(0, before.chats.length)).toEqual(before.chats)
  expect(await sandbox.control.messages({ chatId: privateChat })).toHaveLength(1)
  expect((await sandbox.control.now()).mode).toBe('running')
}, 120_000)

it('a case fails against an implementation that answers otherwise', async () => {
  await using driver = await ControlDriver.create(at)
  const one = ALL_CASES.find(({ proves }) => proves.includes('bot-fields'))
  if (one === undefined) throw new Error('no case shows the fields of a bot')
  await driver.play(one)
  const body = JSON.stringify({ ok: true, result: { id: 1, mode: 'open', limits: {} } })
  await using other = createServer((_, to) => to.writeHead(200, JSON_TYPE).end(body))
  await once(other.listen(0, '127.0.0.1'), 'listening')
  const { port } = other.address() as AddressInfo
  await using wrong = await ControlDriver.create({ ...at, url: `http://127.0.0.1:${port}` })
  await expect(wrong.play(one)).rejects.toThrow()
})

it('`ControlDriver` skips cases beyond the implementation, with the reason', async () => {
  await using strict = await ControlDriver.create({ ...at, localWebhooks: false })
  const whys = new Set(ALL_CASES.map((one) => strict.whyNot(one)).filter((why) => why !== null))
  expect([...whys].some((why) => why.includes('--local-webhooks'))).toBe(true)
  expect([...whys].some((why) => why.includes('host names'))).toBe(true)
})

it('README.md lists the control operations that the suite uses', () => {
  const ways = globSync('test/contract/ways/{control-*,home,owner,person,rooms,sweep}.ts')
  const used = ways.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\bcontrol\.(\w+)\(/g)].map(([, name]) => name),
  )
  const page = readFileSync('test/contract/README.md', 'utf8')
  const [, list = ''] = /needs these of its operations: ([^]*?)\n\n/.exec(page) ?? []
  const named = [...list.matchAll(/`(\w+)`/g)].map(([, name]) => name)
  expect(named.filter((name) => name !== 'error').toSorted()).toEqual([...new Set(used)].toSorted())
})

it.each([
  [['--control', 'http://127.0.0.1:1'], '--control needs --url'],
  [['--url', 'http://127.0.0.1:1', '--control', 'x'], '--control is not a url'],
  [['--url', url, '--control', controlUrl, '--token', 't'], 'a bot of its own'],
  [['--local-webhooks'], 'go with --control'],
  [['--url', url, '--control', controlUrl, '--local-webhooks', '--host-names'], 'refuses none'],
  [['--url', url], '--token or --token-file'],
])('`npm run contract -- %j` exits with 2', async (args, why) => {
  const { code, stdout, stderr } = await contract(...args)
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(why)])
})

it('`npm run contract` exits with 1 if the control does not answer', async () => {
  const { code, stderr } = await contract('--url', url, '--control', 'http://127.0.0.1:1')
  expect([code, stderr]).toEqual([1, expect.stringContaining('contract: ')])
})
