import { join } from 'node:path'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { callOf, type Update } from './bench-bots.ts'
import { median, resultOf, temporaryFolder, timeOf, type Result } from './measure.ts'
import { sandboxWorldJobs } from './sandbox-worlds.ts'

const PEOPLE = 1000
const BOTS = 200
const BACKLOG = 10_000
const BATCH = 100
const CALLS = 100
const STARTS = 15
const ROUNDS = 3
const PEER = 'with --data'

type Times = Record<'read' | 'posts' | 'lists', number>

/**
 * How quick the sandbox is as what stands behind other benchmarks: a group of 1,000 people and 200
 * bots, with 10,000 updates waiting. Beside it the same world kept in a file.
 */
export async function sandboxJobs(wanted: (job: string) => boolean): Promise<Result[]> {
  return [...(await sandboxWorldJobs(wanted)), ...(await speedJobs())]
}

async function speedJobs(): Promise<Result[]> {
  using folder = temporaryFolder()
  const starts = await inTurn(STARTS, start, folder.path)
  const crowds = await inTurn(ROUNDS, crowd, folder.path)
  const of = (name: keyof Times) => (times: Times) => times[name]
  return [
    result('sandbox-start', starts, (ms) => ms),
    result(`sandbox-backlog: read ${BACKLOG} updates, ${BATCH} at once`, crowds, of('read')),
    result(`sandbox-backlog: post ${CALLS} messages`, crowds, of('posts')),
    result(`sandbox-backlog: list ${PEOPLE + BOTS} members, ${CALLS} times`, crowds, of('lists')),
  ]
}

interface Pair<T> {
  ours: T[]
  peer: T[]
}

/** The two take turns; the first of each is to warm up. */
async function inTurn<T>(
  rounds: number,
  run: (data: string | undefined) => Promise<T>,
  folder: string,
): Promise<Pair<T>> {
  const ours: T[] = []
  const peer: T[] = []
  for (let n = 0; n <= rounds; n++) {
    ours.push(await run(undefined))
    peer.push(await run(join(folder, `${run.name}-${n}.world`)))
  }
  return { ours: ours.slice(1), peer: peer.slice(1) }
}

function result<T>(job: string, { ours, peer }: Pair<T>, msOf: (one: T) => number): Result {
  return resultOf(job, median(ours.map(msOf)), { [PEER]: median(peer.map(msOf)) })
}

async function start(data: string | undefined): Promise<number> {
  const startedAt = performance.now()
  const sandbox = await createSandbox(data === undefined ? {} : { data })
  const ms = performance.now() - startedAt
  await sandbox[Symbol.asyncDispose]()
  return ms
}

async function crowd(data: string | undefined): Promise<Times> {
  await using sandbox = await createSandbox({
    world: 'empty',
    rates: 'off',
    transcriptCalls: 0,
    ...(data === undefined ? {} : { data }),
  })
  const { chatId, token } = await settle(sandbox)
  const call = (method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> =>
    callOf(sandbox, { token }, { method, path, body })
  const lists = await timeOf(() => many(() => call('GET', `/chats/${chatId}/members`)))
  const posts = await timeOf(() => many(() => call('POST', '/messages', { chatId, text: 'hello' })))
  let offset = 0
  let count = 0
  const read = await timeOf(async () => {
    while (count < BACKLOG) {
      const path = `/updates?limit=${BATCH}&offset=${offset}`
      const updates = (await call('GET', path)) as Update[]
      count += updates.length
      offset = (updates.at(-1)?.updateId ?? 0) + 1
    }
  })
  return { read, posts, lists }
}

/** The group, and a bot in it that hears everything and has read nothing. */
async function settle({ control }: Sandbox): Promise<{ chatId: number; token: string }> {
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n)
  const people = numbers(PEOPLE).map((n) => control.addPerson({ username: `person_${n}` }))
  const others = numbers(BOTS).map((n) =>
    control.addBot({ username: `bot_${n}`, privacyMode: n !== 0 }),
  )
  const made = [...(await Promise.all(people)), ...(await Promise.all(others))]
  const members = made.map(({ id }) => id)
  const { id: chatId } = await control.addRoom({ kind: 'group', historyVisible: true, members })
  const [userId = 0] = members
  for (let n = 0; n < BACKLOG; n += BATCH) {
    await Promise.all(numbers(BATCH).map((m) => control.post({ userId, chatId, text: `${n + m}` })))
  }
  const [reader] = await Promise.all(others)
  return { chatId, token: reader?.token ?? '' }
}

async function many(call: () => Promise<unknown>): Promise<void> {
  for (let n = 0; n < CALLS; n++) await call()
}
