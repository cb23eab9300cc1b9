/**
 * Both directions at once, end to end: a bot reads 100 sealed updates by long poll while it sends
 * at the service's full rate, 30 a second, into groups of 300. The sandbox keeps every rate and
 * limit of the specification; a member's phone opens and verifies what comes. Ends with 1 when
 * anything is missing, doubled or unverified.
 *
 * npm run together
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { until } from '../support/sidecar.ts'
import { callOf, type Update } from './bench-bots.ts'
import { addGroup, addPeople } from './crowd.ts'
import { median, round } from './measure.ts'
import { startPostern } from './processes.ts'

const MEMBERS = 300
/** A group takes 20 messages a minute. */
const GROUPS = 20
const SENDS = 300
const SENDS_PER_SECOND = 30
const UPDATES = 100
const WAIT_MS = 120_000

await using sandbox = await createSandbox()
const { token, home } = sandbox
const groups = await makeGroups(sandbox)
await using postern = await startPostern({ upstream: sandbox.url, token, publish: true })
const alice = await sandbox.phone(home.alice.id)

const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
/** As a bot that means well: the sidecar takes 256 at once. */
const connections = new Pool(postern.url, { connections: 64 })
const told = { busy: 0 }
const times: number[] = []
const late: number[] = []
const read = new Map<string, string>()
const startedAt = performance.now()
await Promise.all([sendAll(), readAll(), writeAll()])
const seconds = round((performance.now() - startedAt) / 1000)
const arrived = await until(sentTexts, 'every message on the phone', WAIT_MS)

const verified = [...read.values()].filter((verdict) => verdict === 'verified').length
const lines = [
  `${read.size} of ${UPDATES} updates read, ${verified} verified`,
  `${arrived.size} of ${SENDS} messages to ${MEMBERS + 2} people each opened and verified by one of them`,
  `${seconds} s in all; a send took ${round(median(times))} ms in the median, ` +
    `${round(Math.max(...times))} ms at most; an update ${round(median(late))} ms from its writer to the bot`,
  `the service asked the bot to wait ${told.busy} times`,
]
await connections.close()
process.stdout.write(`${lines.join('\n')}\n`)
if (verified !== UPDATES || arrived.size !== SENDS) process.exitCode = 1

async function makeGroups(on: Sandbox): Promise<number[]> {
  const people = [on.home.alice.id, ...(await addPeople(on, MEMBERS))]
  const ids: number[] = []
  for (let n = 0; n < GROUPS; n++) ids.push(await addGroup(on, { title: `Group ${n}`, people }))
  return ids
}

/** Sends evenly, whether those before are answered or not. */
async function sendAll(): Promise<void> {
  const all: Promise<void>[] = []
  for (let n = 0; n < SENDS; n++) {
    await pause(Math.max(0, startedAt + (n * 1000) / SENDS_PER_SECOND - performance.now()))
    all.push(send(n))
  }
  await Promise.all(all)
}

/** As a bot does it: what the service has no room for is said again, with the same `sendId`. */
async function send(n: number): Promise<void> {
  const chatId = groups[n % GROUPS]
  const body = JSON.stringify({ chatId, text: `message ${n}`, sendId: randomUUID() })
  for (;;) {
    const askedAt = performance.now()
    const path = '/bot/v1/messages'
    const answer = await connections.request({ method: 'POST', path, headers, body })
    const answered = await answer.body.text()
    if (answer.statusCode === 201) return void times.push(performance.now() - askedAt)
    if (answer.statusCode !== 429) throw new Error(`a send was answered with ${answered}`)
    told.busy++
    await pause(Number(answer.headers['retry-after']) * 1000)
  }
}

async function writeAll(): Promise<void> {
  for (let n = 0; n < UPDATES; n++) {
    await pause((1000 * SENDS) / SENDS_PER_SECOND / UPDATES)
    await alice.write(home.privateChat, `update ${n} ${performance.now()}`)
  }
}

async function readAll(): Promise<void> {
  const end = performance.now() + WAIT_MS
  for (let offset = 0; read.size < UPDATES && performance.now() < end;) {
    const path = `/updates?timeout=20&limit=100&offset=${offset}`
    const updates = (await callOf(postern, { token }, { method: 'GET', path })) as Update[]
    for (const { updateId, message } of updates) {
      offset = updateId + 1
      const [name, n, writtenAt] = message?.text?.split(' ') ?? []
      if (name !== 'update' || n === undefined) continue
      if (read.has(n)) throw new Error(`update ${n} came twice`)
      read.set(n, message?.postern?.verdict ?? 'none')
      late.push(performance.now() - Number(writtenAt))
    }
  }
}

/** What the phone has opened and verified of the bot's messages, once that is all of it. */
function sentTexts(): Set<string> | null {
  const seen = alice.inbox.filter(({ text, verdict }) => {
    return verdict === 'verified' && text.startsWith('message ')
  })
  const texts = new Set(seen.map(({ text }) => text))
  if (texts.size !== seen.length) throw new Error('a message came twice')
  return texts.size === SENDS ? texts : null
}
