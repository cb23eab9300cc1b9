// nats.mjs between a sidecar and a real nats-server: node --test
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { createSandbox } from 'postern/sandbox'
import { startSidecar } from 'postern/testing'

const folder = mkdtempSync(join(tmpdir(), 'nats-'))
const BOT_TOKEN_FILE = join(folder, 'token')
const token = `pstn_${'t'.repeat(32)}`
writeFileSync(BOT_TOKEN_FILE, token, { mode: 0o600 })
const port = 20_000 + (process.pid % 10_000)
const NATS_URL = `nats://127.0.0.1:${port}`
const hasServer = spawnSync('nats-server', ['--version']).status === 0
const skip = hasServer ? false : 'not installed: nats-server'

let sandbox, alice, sidecar, server, bot, printed
const children = []

function start(program, args, env = {}) {
  const stdio = ['ignore', 'ignore', 'pipe']
  const child = spawn(program, args, { env: { PATH: process.env.PATH, ...env }, stdio })
  children.push(child)
  return child
}

async function kill(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

function startServer() {
  const args = ['--jetstream', '--store_dir', join(folder, 'nats'), '--port', String(port)]
  server = start('nats-server', [...args, '--addr', '127.0.0.1'])
  server.stderr.resume()
}

function startBot(more = {}) {
  bot = start(process.execPath, ['nats.mjs'], {
    BASE_URL: sidecar.url,
    BOT_TOKEN_FILE,
    NATS_URL,
    ...more,
  })
  printed = ''
  bot.stderr.on('data', (part) => (printed += part))
}

/** The texts that the stream holds, in order. */
async function stored() {
  const nats = await connect({ servers: NATS_URL })
  try {
    const { streams } = await jetstreamManager(nats)
    const { state } = await streams.info('POSTERN')
    const found = []
    for (let seq = state.first_seq; seq > 0 && seq <= state.last_seq; seq++) {
      const { message } = (await streams.getMessage('POSTERN', { seq })).json()
      found.push(message.text)
    }
    return found
  } finally {
    await nats.close()
  }
}

async function until(isTrue) {
  for (let tries = 0; !(await isTrue()); tries++) {
    assert.ok(tries < 300, `${isTrue}: ${printed}`)
    await setTimeout(100)
  }
}

const has = async (text) => (await stored().catch(() => [])).includes(text)
const write = (text) => alice.write(sandbox.home.privateChat, text)

before(async () => {
  if (skip) return
  sandbox = await createSandbox({ rates: 'off' })
  alice = await sandbox.phone(sandbox.home.alice.id)
  const client = { name: 'nats', may: ['read'], chats: ['all'], files: false }
  sidecar = await startSidecar({
    upstream: sandbox.url,
    token: sandbox.token,
    settings: { clients: { list: [{ ...client, tokenFile: BOT_TOKEN_FILE }], only: true } },
  })
})

after(async () => {
  for (const child of children) await kill(child)
  await sidecar?.stop()
  await sandbox?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

test('it waits for the server, adds the stream, and publishes each update', { skip }, async () => {
  startBot()
  await write('one')
  await setTimeout(1000)
  startServer()
  await until(() => printed.includes('publishing to postern.updates'))
  await until(() => has('one'))
  assert.deepEqual(await stored(), ['one'])
})

test('an update that comes again after a crash is dropped by the stream', { skip }, async () => {
  await kill(bot)
  await write('two')
  await write('three')
  // as the bot was killed after it published these, before it confirmed them
  const headers = { authorization: `Bearer ${token}` }
  let updates = []
  while (updates.at(-1)?.message.text !== 'three') {
    const answer = await fetch(`${sidecar.url}/bot/v1/updates?timeout=5`, { headers })
    updates = (await answer.json()).result
  }
  const nats = await connect({ servers: NATS_URL })
  for (const update of updates) {
    const msgID = `postern.updates.${update.updateId}`
    await jetstream(nats).publish('postern.updates', JSON.stringify(update), { msgID })
  }
  await nats.close()
  startBot()
  await write('four')
  await until(() => has('four'))
  assert.deepEqual(await stored(), ['one', 'two', 'three', 'four'])
})

test('nothing is confirmed without an acknowledgement, and nothing is lost', { skip }, async () => {
  await kill(server)
  await write('while it is away')
  await until(() => /trying again in 1 s/.test(printed))
  await kill(bot)
  startServer()
  startBot()
  await until(() => has('while it is away'))
  assert.equal((await stored()).length, 5)
})

test(
  'each update is stored once, while bot and server are killed and restarted',
  { skip },
  async () => {
    const sent = Array.from({ length: 16 }, (_, index) => `m${index}`)
    const writing = (async () => {
      for (const text of sent) {
        await write(text)
        await setTimeout(100)
      }
    })()
    for (let round = 0; round < 4; round++) {
      await setTimeout(600)
      await kill(round === 2 ? server : bot)
      if (round === 2) startServer()
      else startBot()
    }
    await writing
    await until(() => has('m15'))
    assert.deepEqual((await stored()).slice(5), sent)
  },
)

test('refused credentials end it with an error', { skip }, async () => {
  await kill(bot)
  await kill(server)
  const args = ['--port', String(port), '--addr', '127.0.0.1', '--auth', 'another']
  server = start('nats-server', args)
  server.stderr.resume()
  startBot()
  assert.deepEqual(await once(bot, 'exit'), [1, null])
  assert.match(printed, /authorization/i)
})
