// archive.mjs before the sandbox and a sidecar, with crashes: node --test
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { createSandbox } from 'postern/sandbox'
import { startSidecar } from 'postern/testing'

const folder = mkdtempSync(join(tmpdir(), 'archive-'))
const BOT_TOKEN_FILE = join(folder, 'token')
const ARCHIVE = join(folder, 'archive.jsonl')
const token = `pstn_${'t'.repeat(32)}`
writeFileSync(BOT_TOKEN_FILE, token, { mode: 0o600 })

let sandbox, alice, sidecar, child, printed

/** Starts the sidecar, at the same address and with the same store each time. */
async function startAgain() {
  const port = sidecar === undefined ? 0 : Number(new URL(sidecar.url).port)
  await sidecar?.stop()
  const archive = { name: 'archive', may: ['read'], chats: ['all'], files: false }
  const list = [{ ...archive, tokenFile: BOT_TOKEN_FILE }]
  sidecar = await startSidecar({
    upstream: sandbox.url,
    token: sandbox.token,
    dataDir: join(folder, 'data'),
    settings: { listen: { port }, clients: { list, only: true } },
  })
}

function startArchive(more = {}) {
  const env = { BASE_URL: sidecar.url, BOT_TOKEN_FILE, ARCHIVE, ...more }
  child = spawn(process.execPath, ['archive.mjs'], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  printed = ''
  child.stderr.on('data', (part) => (printed += part))
}

async function stopArchive() {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

const lines = () =>
  readFileSync(ARCHIVE, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
const texts = () => lines().map(({ message }) => message.text)

/** Waits until something is true, or no longer throws. */
async function until(isTrue) {
  for (let tries = 0; ; tries++) {
    try {
      if (isTrue()) return
    } catch (error) {
      if (!(error instanceof SyntaxError) && error.code !== 'ENOENT') throw error
    }
    assert.ok(tries < 300, `${isTrue}: ${printed}`)
    await setTimeout(100)
  }
}

const write = (text) => alice.write(sandbox.home.privateChat, text)

before(async () => {
  sandbox = await createSandbox({ rates: 'off' })
  alice = await sandbox.phone(sandbox.home.alice.id)
  await startAgain()
})

afterEach(stopArchive)

after(async () => {
  await sidecar?.stop()
  await sandbox?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

test('each message is a line with its verdict, in a file of its owner', async () => {
  await write('one')
  startArchive()
  await until(() => texts().length === 1)
  const { privateChat: chatId, readableGroup } = sandbox.home
  await sandbox.control.post({ userId: alice.userId, chatId, text: 'forged' })
  await alice.write(readableGroup, '@echo_bot open')
  await until(() => texts().length === 3)
  const verdicts = lines().map(({ message, ...line }) => [message.text, line.verdict])
  const forged = [undefined, 'plaintext-in-protected']
  assert.deepEqual(verdicts, [['one', 'verified'], forged, ['@echo_bot open', null]])
  assert.equal(statSync(ARCHIVE).mode & 0o777, 0o600)
})

test('after a crash between writing and confirming, no line is lost, cut or there twice', async () => {
  const later = ['two', 'three', 'four']
  for (const text of later) await write(text)
  // as the archive was killed in the middle of writing these, before it confirmed them
  const headers = { authorization: `Bearer ${token}` }
  const offset = lines().at(-1).updateId + 1
  let result = []
  while (result.length < 3) {
    const url = `${sidecar.url}/bot/v1/updates?timeout=5&offset=${offset}`
    const answer = await fetch(url, { headers })
    result = (await answer.json()).result
  }
  const [first, second] = result.map((update) => JSON.stringify({ ...update, verdict: 'verified' }))
  appendFileSync(ARCHIVE, `${first}\n${second.slice(0, 100)}`)
  startArchive()
  await until(() => texts().length === 6)
  assert.deepEqual(texts().slice(3), later)
  assert.deepEqual(
    lines().map(({ updateId }) => updateId),
    [1, 2, 3, 4, 5, 6],
  )
})

test('each message is archived once, while archive and sidecar are killed and restarted', async () => {
  const sent = Array.from({ length: 24 }, (_, index) => `m${index}`)
  const writing = (async () => {
    for (const text of sent) {
      await write(text)
      await setTimeout(50)
    }
  })()
  for (let round = 0; round < 5; round++) {
    startArchive()
    await setTimeout(300 + 40 * round)
    if (round === 2) await startAgain()
    await stopArchive()
  }
  await writing
  startArchive()
  await until(() => texts().includes('m23'))
  assert.deepEqual(texts().slice(6), sent)
})

test('the archive waits while its token is refused', async () => {
  writeFileSync(BOT_TOKEN_FILE, `${token}x`)
  await write('later')
  startArchive()
  await until(() => printed.includes('unauthorized: trying again in 1 s'))
  assert.ok(!texts().includes('later'))
  writeFileSync(BOT_TOKEN_FILE, token)
  await until(() => texts().includes('later'))
})

test('a file of another program is refused and not changed', async () => {
  for (const content of ['notes', 'notes\n', '{"a":1}\n', '{"updateId":1}\nnotes']) {
    const file = join(folder, 'notes')
    writeFileSync(file, content)
    startArchive({ ARCHIVE: file })
    const [code] = await once(child, 'exit')
    assert.equal(code, 1)
    assert.equal(readFileSync(file, 'utf8'), content)
  }
})

test('a full disk ends the archive, and nothing is confirmed', async () => {
  await write('too much')
  startArchive({ ARCHIVE: '/dev/full' })
  const [code] = await once(child, 'exit')
  assert.equal(code, 1)
  assert.match(printed, /ENOSPC/)
  startArchive()
  await until(() => texts().includes('too much'))
})

test('a file moved away is continued in a new one, without a gap', async () => {
  const last = lines().at(-1)
  renameSync(ARCHIVE, `${ARCHIVE}.1`)
  await write('in a new file')
  startArchive()
  await until(() => texts().includes('in a new file'))
  // the archive may have been killed before it confirmed the last line, which is then in both files
  const added = lines().filter(({ updateId }) => updateId > last.updateId)
  assert.deepEqual(
    added.map(({ updateId, message }) => [updateId, message.text]),
    [[last.updateId + 1, 'in a new file']],
  )
})
