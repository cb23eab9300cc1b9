import { describe, expect, test } from 'vitest'
import type { Operations } from '../../src/control/operations.ts'
import type { RotationReport } from '../../src/control/reports.ts'
import { OperatorError } from '../../src/errors.ts'
import { FINGERPRINT, KEY, ROTATION, dataFolder, serve } from '../control/support.ts'
import { postern } from './support.ts'

/** Runs a command against a sidecar whose operations are partly these. */
async function command(line: string, over: Partial<Operations> = {}) {
  const cwd = dataFolder()
  await serve(cwd, over)
  return await postern([...line.split(' '), '--data-dir', cwd], { cwd })
}

/** Answers that follow one another; the last one stands. */
function course(...steps: Partial<RotationReport>[]): () => Promise<RotationReport> {
  let at = 0
  return () => Promise.resolve({ ...ROTATION, ...steps[Math.min(at++, steps.length - 1)] })
}

const MADE = { phase: 'made', endedAt: null, detail: 'on disk' } as const
const WAITING = {
  phase: 'waiting',
  endedAt: null,
  detail: 'the service refused it: forbidden',
  nextAttemptAt: '2026-01-03T00:01:00.000Z',
} as const

describe('key rotate', () => {
  test('tells each step on stderr, once, and the new fingerprint on stdout', async () => {
    const keyRotation = course(MADE, MADE, { ...MADE, phase: 'publishing', detail: 'PUT' }, {})
    expect(await command('key rotate', { keyRotate: course(MADE), keyRotation })).toEqual({
      code: 0,
      stdout: `${ROTATION.to}\n`,
      stderr: `made: on disk\npublishing: PUT\ndone; ${FINGERPRINT} still opens late messages\n`,
    })
  })

  test('with --json puts each step on stdout, a line each', async () => {
    const { stdout, stderr } = await command('key rotate --json', {
      keyRotation: course(MADE, {}),
    })
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown)
    expect([lines, stderr]).toEqual([[{ ...ROTATION, ...MADE }, ROTATION], ''])
  })

  test('ends with 1 where the service must be tried again later, and says what can be done', async () => {
    const done = await command('key rotate', { keyRotation: course(MADE, WAITING) })
    expect([done.code, done.stdout]).toEqual([1, ''])
    expect(done.stderr).toContain(
      'waiting: the service refused it: forbidden, tried again at 2026-01-03T00:01:00.000Z\n',
    )
    expect(done.stderr).toMatch(/not finished: .*\nhint: .*--watch .*--abandon .*\ncode: failed/)
  })

  test('with --watch goes on from there', async () => {
    const keyRotation = course(MADE, WAITING, WAITING, {})
    const done = await command('key rotate --watch', { keyRotation })
    expect([done.code, done.stdout]).toEqual([0, `${ROTATION.to}\n`])
  })

  test('with --abandon says which key stays', async () => {
    expect(await command('key rotate --abandon')).toEqual({
      code: 0,
      stdout: '',
      stderr: `abandoned; ${FINGERPRINT} stays the bot’s key\n`,
    })
  })

  test.each(['--abandon', ''])('%s refused by the sidecar ends with 1', async (flag) => {
    const refuse = () => Promise.reject(new OperatorError('refused', 'not now', 'later'))
    const over = { keyAbandon: refuse, keyRotate: refuse }
    expect(await command(`key rotate ${flag}`.trim(), over)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'postern: not now\nhint: later\ncode: refused\n',
    })
  })
})

describe('key delete', () => {
  const deleted: string[] = []
  const over: Partial<Operations> = {
    keyDelete: ({ fingerprint }) => {
      deleted.push(fingerprint)
      return Promise.resolve({ fingerprint, message: 'destroyed' })
    },
  }

  test('without a terminal to ask at needs --yes, and deletes nothing', async () => {
    const done = await command(`key delete ${FINGERPRINT}`, over)
    expect([done.code, done.stdout, deleted]).toEqual([2, '', []])
    expect(done.stderr).toContain('--yes deletes without asking')
  })

  test('prints what becomes unreadable and where the key may survive, then deletes', async () => {
    const done = await command(`key delete ${FINGERPRINT} --yes`, over)
    expect([done.code, done.stdout, deleted]).toEqual([0, '', [FINGERPRINT]])
    expect(done.stderr).toMatch(/unreadable for good:\n {2}words\n.*may survive in:\n {2}backups\n/)
    expect(done.stderr).toMatch(/destroyed\n$/)
  })

  test('prints the same as JSON', async () => {
    const { stdout } = await command(`key delete ${FINGERPRINT} --yes --json`, over)
    expect(JSON.parse(stdout)).toEqual({ key: KEY, loses: ['words'], unsure: ['backups'] })
  })

  test('what the sidecar refuses is not deleted', async () => {
    deleted.length = 0
    const keyDeletion = () => Promise.reject(new OperatorError('refused', 'in use', 'rotate'))
    const done = await command(`key delete ${FINGERPRINT} --yes`, { ...over, keyDeletion })
    expect([done.code, deleted]).toEqual([1, []])
  })

  test('needs to be told which key', async () => {
    expect((await command('key delete --yes', over)).code).toBe(2)
  })
})

const UNTIL = '2026-01-05T00:00:00.000Z'

describe('key list', () => {
  test('says of an old key that it opens no more, and what to do', async () => {
    const old = { ...KEY, state: 'retired' as const, opens: false, opensUntil: UNTIL }
    const { stdout, stderr } = await command('key list', { keyList: async () => [KEY, old] })
    expect(stdout.split('\n')[2]).toMatch(/retired .* no more /)
    expect(stderr).toContain('postern key delete')
  })

  test('says nothing of deletion while every old key still opens', async () => {
    const old = { ...KEY, state: 'retired' as const, opensUntil: UNTIL }
    const { stdout, stderr } = await command('key list', { keyList: async () => [KEY, old] })
    expect([stdout.split('\n')[2], stderr]).toEqual([
      expect.stringMatching(/until 2026-01-05 00:00Z/),
      '',
    ])
  })
})
