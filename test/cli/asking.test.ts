/** Every command with a question: nothing changes before the answer, nor without a terminal. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import type { Command } from 'commander'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { openAgentKeys } from '../../src/agent/keys.ts'
import { loadCommands } from '../../src/cli/commands.ts'
import type { Operations } from '../../src/control/operations.ts'
import { FINGERPRINT, operations, serve } from '../control/support.ts'
import { runInProcess } from '../support/run-in-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'ask-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const list = join(folder, 'list.csv')
writeFileSync(list, `4711,${FINGERPRINT}\n`)
const agentDir = join(folder, 'agent')
let held = ''
const keysOfAgent = async () => {
  await using keys = await openAgentKeys({
    dataDir: agentDir,
    passphrase: null,
    protection: 'none',
  })
  return keys.list().map(({ unlocked }) => unlocked !== null)
}
beforeAll(async () => {
  await using keys = await openAgentKeys({
    dataDir: agentDir,
    passphrase: null,
    protection: 'none',
  })
  const asked = { userId: 'bot', createdMs: 1_700_000_000_000, certifiedBy: null }
  held = (await keys.make(asked)).fingerprint
})

interface Question {
  args: () => string[]
  /** The answer that allows it. */
  answer: () => string
  /** The operations that change nothing. */
  reads: (keyof Operations)[]
  /** The operation of the command, with the input that changes something; null: it calls none. */
  changes: [keyof Operations, object] | null
}

/** By command; the names are compared with those of the program. */
const QUESTIONS: Record<string, Question> = {
  'key delete': {
    args: () => [FINGERPRINT],
    answer: () => FINGERPRINT,
    reads: ['keyDeletion'],
    changes: ['keyDelete', { fingerprint: FINGERPRINT }],
  },
  'agent destroy': { args: () => [held], answer: () => held, reads: [], changes: null },
  'chat allow-readable': {
    args: () => ['--private'],
    answer: () => 'yes',
    reads: ['chatList'],
    changes: ['chatAllowReadable', { private: true }],
  },
  'chat correct-kind': {
    args: () => ['4711', '--to', 'group'],
    answer: () => '4711',
    reads: [],
    changes: ['chatCorrectKind', { chatId: 4711, kind: 'group' }],
  },
  'trust import': {
    args: () => [list, '--unsigned', '--unknown'],
    answer: () => 'yes',
    reads: ['trustImport'],
    changes: ['trustImport', expect.objectContaining({ apply: true, hasUnknown: true }) as object],
  },
  'person forget': {
    args: () => ['4711'],
    answer: () => '4711',
    reads: [],
    changes: ['personForget', { userId: 4711 }],
  },
}

const named = (command: Command, above: string[] = []): string[] => {
  const path = [...above, command.name()]
  const asks = command.options.some(({ long }) => long === '--yes')
  return [...(asks ? [path.join(' ')] : []), ...command.commands.flatMap((one) => named(one, path))]
}

/** A sidecar that keeps each call and changes nothing. */
async function stub() {
  const calls: [string, unknown][] = []
  const stubbed = Object.entries(operations()).map(([name, fixed]) => [
    name,
    async (input: never) => {
      calls.push([name, input])
      return await fixed(input)
    },
  ])
  const dataDir = mkdtempSync(join(folder, 'stub-'))
  await serve(dataDir, Object.fromEntries(stubbed))
  const env = (isAgent: boolean) => ({
    POSTERN_DATA_DIR: isAgent ? agentDir : dataDir,
    POSTERN_KEY_PROTECTION: 'none',
  })
  return { calls, env }
}

/** A person at stdin and stderr who types this. */
function types(answer: string): void {
  const input = Object.assign(new PassThrough(), { isTTY: true })
  input.end(`${answer}\n`)
  const stdin = vi.spyOn(process, 'stdin', 'get').mockReturnValue(input as never)
  const before = process.stderr.isTTY
  process.stderr.isTTY = true
  onTestFinished(() => {
    stdin.mockRestore()
    process.stderr.isTTY = before
  })
}

test('the table of questions has every command with `--yes`', async () => {
  const commands = await loadCommands()
  const names = commands.flatMap((command) => named(command))
  expect(names.toSorted()).toEqual(Object.keys(QUESTIONS).toSorted())
})

/** Each way to answer, the exit code of the command, and whether it changes anything. */
const WAYS: [how: string, (question: Question) => string[], code: number, isChanged: boolean][] = [
  ['without a terminal', () => [], 2, false],
  [
    'with another answer',
    () => {
      types('nope')
      return []
    },
    1,
    false,
  ],
  [
    'with an empty answer',
    () => {
      types('')
      return []
    },
    1,
    false,
  ],
  [
    'with its answer',
    ({ answer }) => {
      types(` ${answer().toUpperCase()} `)
      return []
    },
    0,
    true,
  ],
  ['with `--yes`', () => ['--yes'], 0, true],
]
const ROWS = Object.entries(QUESTIONS).flatMap(([name, question]) =>
  WAYS.filter(([, , , isChanged]) => question.changes !== null || !isChanged).map(
    ([how, ...way]) => [name, how, question, ...way] as const,
  ),
)

test.each(ROWS)(
  '`postern %s` %s makes the allowed change alone',
  async (name, _how, question, flagsOf, code, isChanged) => {
    const { calls, env } = await stub()
    const flags = flagsOf(question)
    const isAgent = question.changes === null
    const ended = await runInProcess(
      [...name.split(' '), ...question.args(), ...flags],
      env(isAgent),
    )
    expect([ended.code, ended.stderr.includes('--yes')]).toEqual([code, code === 2])
    const changing = calls.filter(
      ([called, input]) =>
        !question.reads.includes(called as keyof Operations) ||
        (input as { apply?: boolean }).apply === true,
    )
    expect(changing).toEqual(isChanged ? [question.changes] : [])
    if (isAgent) expect(await keysOfAgent()).toEqual([true])
  },
)

test('`postern agent destroy` with its answer destroys the secret of the key', async () => {
  types(held)
  const ended = await runInProcess(['agent', 'destroy', held], {
    POSTERN_DATA_DIR: agentDir,
    POSTERN_KEY_PROTECTION: 'none',
  })
  expect([ended.code, await keysOfAgent()]).toEqual([0, [false]])
})
