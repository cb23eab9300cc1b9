/** Every command with a question: nothing changes before the answer, nor without a terminal. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import type { Command } from 'commander'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { openAgentKeys } from '../../src/agent/keys.ts'
import { loadCommands } from '../../src/cli/commands.ts'
import { FINGERPRINT, operations, serve } from '../operators/support.ts'
import { runInProcess } from '../support/run-in-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'ask-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const list = join(folder, 'list.csv')
writeFileSync(list, `4711,${FINGERPRINT}\n`)

const APPLIED: unknown = expect.objectContaining({ apply: true, hasUnknown: true })
/** By command: arguments, the answer that allows it, the operation that changes something, its input. */
type Question = [args: string, answer: string, operation: string, input: unknown]
const QUESTIONS: Record<string, Question> = {
  'key delete': [FINGERPRINT, FINGERPRINT, 'keyDelete', { fingerprint: FINGERPRINT }],
  'chat allow-readable': ['--private', 'yes', 'chatAllowReadable', { private: true }],
  'chat correct-kind': ['-5 --to group', '-5', 'chatCorrectKind', { chatId: -5, kind: 'group' }],
  'trust import': [`${list} --unsigned --unknown`, 'yes', 'trustImport', APPLIED],
  'person forget': ['4711', '4711', 'personForget', { userId: 4711 }],
}
/** It changes a store of its own. */
const AGENT = 'agent destroy'

const askingIn = (command: Command, above: string[] = []): string[] => {
  const path = [...above, command.name()]
  const asks = command.options.some(({ long }) => long === '--yes')
  const below = command.commands.flatMap((one) => askingIn(one, path))
  return asks ? [path.join(' '), ...below] : below
}

test('the table of questions has every command with `--yes`', async () => {
  const names = (await loadCommands()).flatMap((command) => askingIn(command))
  expect(names.toSorted()).toEqual([AGENT, ...Object.keys(QUESTIONS)].toSorted())
})

/** A person at stdin and stderr who types this; null: there is none. */
function types(answer: string | null): void {
  if (answer === null) return
  const input = Object.assign(new PassThrough(), { isTTY: true })
  input.end(`${answer}\n`)
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(input as never)
  const before = process.stderr.isTTY
  process.stderr.isTTY = true
  onTestFinished(() => {
    vi.restoreAllMocks()
    process.stderr.isTTY = before
  })
}

/** Each way to answer, and the exit code; what ends with 0 changes something, and nothing else does. */
const WAYS: [
  how: string,
  typed: (answer: string) => string | null,
  flags: string[],
  code: number,
][] = [
  ['without a terminal', () => null, [], 2],
  ['with another answer', () => 'nope', [], 1],
  ['with its answer', (answer) => ` ${answer.toUpperCase()} `, [], 0],
  ['with `--yes`', () => null, ['--yes'], 0],
]
const ROWS = Object.keys(QUESTIONS).flatMap((name) => WAYS.map((way) => [name, ...way] as const))

test.each(ROWS)('`postern %s` %s makes the allowed change alone', async (name, ...way) => {
  const [, typed, flags, code] = way
  const [args, answer, ...changes] = QUESTIONS[name] as Question
  const calls: [string, unknown][] = []
  const stubbed = Object.entries(operations()).map(([operation, fixed]) => [
    operation,
    async (input: never) => {
      calls.push([operation, input])
      return await fixed(input)
    },
  ])
  const dataDir = mkdtempSync(join(folder, 'stub-'))
  await serve(dataDir, Object.fromEntries(stubbed))
  types(typed(answer))
  const env = { POSTERN_DATA_DIR: dataDir }
  const ended = await runInProcess([...`${name} ${args}`.split(' '), ...flags], env)
  expect([ended.code, ended.stderr.includes('--yes')]).toEqual([code, code === 2])
  const isReading = ([operation, input]: [string, unknown]) =>
    /List$|Deletion$/.test(operation) || (input as { apply?: boolean }).apply === false
  expect(calls.filter((call) => !isReading(call))).toEqual(code === 0 ? [changes] : [])
})

test('`postern agent destroy` destroys a key after its answer alone', async () => {
  const env = { POSTERN_DATA_DIR: join(folder, 'agent'), POSTERN_KEY_PROTECTION: 'none' }
  const o = { dataDir: env.POSTERN_DATA_DIR, passphrase: null, protection: 'none' } as const
  const opened = await openAgentKeys(o)
  const made = await opened.make({ userId: 'bot', createdMs: 1_700_000_000_000, certifiedBy: null })
  const { fingerprint } = made
  await opened[Symbol.asyncDispose]()
  for (const [typed, code] of [
    [null, 2],
    ['nope', 1],
    [fingerprint, 0],
  ] as const) {
    types(typed)
    expect((await runInProcess(['agent', 'destroy', fingerprint], env)).code).toBe(code)
    await using keys = await openAgentKeys(o)
    expect(keys.list()[0]?.unlocked === null).toBe(code === 0)
  }
})
