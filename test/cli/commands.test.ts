import { describe, expect, test } from 'vitest'
import { OperatorError, Refusal, ServiceError } from '../../src/errors.ts'
import { dataFolder, FINGERPRINT, operations, serve, STATUS } from '../control/support.ts'
import { runInProcess, postern, start } from './support.ts'

type Over = Parameters<typeof operations>[0]

const PRIVATE = {
  id: 7,
  kind: 'private' as const,
  personId: 815,
  mode: null,
  sealed: true,
  refused: false,
}

/** Runs a command against a running sidecar that answers as `over` says. */
async function command(line: string, over?: Over, input?: string | Buffer) {
  const cwd = dataFolder()
  await serve(cwd, over)
  const env = { POSTERN_DATA_DIR: cwd }
  return input === undefined
    ? await runInProcess(line.split(' '), env)
    : await postern(line.split(' '), { cwd, env, input })
}

describe('lists', () => {
  test('are columns for people and JSON for machines', async () => {
    const keys = await command('key list')
    expect(keys.stdout).toBe(
      [
        `FINGERPRINT${' '.repeat(31)}STATE   PUBLISHED          RETIRED  OPENS  OPENED                LAST OPENED`,
        `${FINGERPRINT}  active  2026-01-01 00:00Z  -        yes    12 messages, 3 files  2026-01-02 00:00Z`,
        '',
      ].join('\n'),
    )
    const asJson = await command('key list --json')
    expect(JSON.parse(asJson.stdout)).toEqual(await operations().keyList())
    const chats = await command('chat list')
    expect(chats.stdout.split('\n').slice(0, 4)).toEqual([
      'CHAT              KIND     MODE       LATCHED  REFUSED  PERSON',
      '-5                group    protected  yes      no       -',
      '9007199254740991  channel  ?          no       yes      -',
      '7                 private  encrypted  by key   no       815',
    ])
    expect(JSON.parse((await command('chat list --json')).stdout)).toHaveLength(3)
  })

  test('are the same from a process of its own', async () => {
    const cwd = dataFolder()
    await serve(cwd)
    const apart = await postern(['key', 'list'], { cwd, env: { POSTERN_DATA_DIR: cwd } })
    expect(apart).toEqual(await command('key list'))
  })

  test('that are empty say so on stderr, or are an empty JSON list', async () => {
    const none = { keyList: async () => [], chatList: async () => [] }
    expect(await command('key list', none)).toMatchObject({ code: 0, stdout: '' })
    expect((await command('chat list', none)).stderr).toBe('no chat is known yet\n')
    expect((await command('chat list --json', none)).stdout).toBe('[]\n')
  })

  test('hold nothing that could move the cursor', async () => {
    const mode = '\u202ey' as 'open'
    const odd = [
      {
        id: 1,
        kind: '\u001b[2Jx',
        personId: null,
        mode,
        latched: false,
        sealed: false,
        refused: false,
      },
    ]
    const { stdout } = await command('chat list', { chatList: async () => odd })
    expect(stdout).toContain('1     [2Jx  y ')
    const { stdout: json } = await command('chat list --json', { chatList: async () => odd })
    expect(json).toContain('"mode":"\\u202ey"')
    expect(JSON.parse(json)).toEqual(odd)
  })
})

describe('keys and chats', () => {
  test('a certificate goes to stdout, what it is to stderr', async () => {
    expect(await command(`key show ${'b'.repeat(40)}`)).toEqual({
      code: 0,
      stdout: '-----BEGIN PGP PUBLIC KEY BLOCK-----\n',
      stderr: `${'b'.repeat(40)}, active\n`,
    })
  })

  test('publishing replaces a key that is not ours only when told so', async () => {
    expect(await command('key publish')).toMatchObject({
      stdout: `${FINGERPRINT}\n`,
      stderr: 'published\n',
    })
    expect((await command('key publish --replace')).stderr).toBe('replaced\n')
  })

  test.each([
    ['4711 -- -5', 'chat -5', '{"chatIds":[4711,-5]}', '4711\n-5\n'],
    ['4711', null, '{"chatIds":[4711]}', '4711\n'],
    ['--pending', null, '{"pending":true}', ''],
    ['--private --yes', 'all private chats', '{"private":true}', ''],
  ])('chat allow-readable %s', async (args, which, asked, stdout) => {
    const notice = `readable text will be allowed in ${which}, wherever the service shows no protection again\n`
    expect(await command(`chat allow-readable ${args}`)).toEqual({
      code: 0,
      stdout,
      stderr: `${which === null ? '' : notice}${asked}\n`,
    })
  })

  test.each(['--private', '7'])(
    'chat allow-readable %s asks for --yes where there is no terminal, and lifts nothing',
    async (args) => {
      const latched = { ...PRIVATE, latched: true }
      const lifts: object[] = []
      const ended = await command(`chat allow-readable ${args}`, {
        chatList: async () => [latched],
        chatAllowReadable: async (lift) => {
          lifts.push(lift)
          return { lifted: [], message: '' }
        },
      })
      expect([ended.code, ended.stdout, lifts]).toEqual([2, '', []])
      expect(ended.stderr).toContain('nothing was lifted; --yes allows it without asking')
    },
  )
})

describe('open', () => {
  test('puts the text on stdout and the verdict on stderr', async () => {
    const open = async ({ armored }: { armored: string }) => ({
      opened: true,
      text: `opened ${armored}`,
      verdict: 'verified',
      signer: FINGERPRINT,
    })
    expect(await command('open', { open }, 'sealed ✓')).toEqual({
      code: 0,
      stdout: 'opened sealed ✓\n',
      stderr: `verdict: verified\nsigner: ${FINGERPRINT}\n`,
    })
  })

  test('ends with 1 and an empty stdout when it was not opened', async () => {
    const open = async () => ({ opened: false, verdict: 'not-recipient', reason: 'no key of ours' })
    const { code, stdout, stderr } = await command('open', { open }, 'sealed')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('verdict: not-recipient\nreason: no key of ours\n')
    expect(stderr).toContain('postern: the message was not opened: not-recipient\nhint: ')
  })

  test('takes 1 MiB from stdin and not more', async () => {
    const whole = Buffer.alloc(1024 * 1024, 'x')
    expect((await command('open', {}, whole)).stdout).toHaveLength(1024 * 1024 + 1)
    const { code, stderr } = await command('open', {}, Buffer.alloc(1024 * 1024 + 1, 'x'))
    expect(code).toBe(1)
    expect(stderr).toContain('postern: the message is larger than 1 MiB')
  })
})

describe('check', () => {
  const cwdWith = async (lines: Parameters<typeof serve>[2]) => {
    const cwd = dataFolder()
    await serve(cwd, {}, lines)
    return { cwd, env: { POSTERN_DATA_DIR: cwd } }
  }
  const lines = [
    { name: 'token', level: 'pass', message: 'it is good', hint: 'none needed' },
    { name: 'clock', level: 'warn', message: 'it is off', hint: 'set it' },
    { name: 'store', level: 'fail', message: 'it is full', hint: 'make room' },
  ] as const

  test('prints a line for each, with what to do, and ends with 1 when one fails', async () => {
    const { code, stdout, stderr } = await postern(['check'], await cwdWith({ lines: [...lines] }))
    expect(code).toBe(1)
    expect(stdout).toMatch(/^pass {2}sidecar: .* no settings are given here.*\n/)
    expect(stdout.slice(stdout.indexOf('\n') + 1)).toBe(
      'pass  token: it is good\nwarn  clock: it is off\n      set it\nfail  store: it is full\n      make room\n',
    )
    expect(stderr).toContain('postern: 1 of 4 checks failed\nhint: ')
  })

  test('ends with 0 when the worst is a warning', async () => {
    const given = await cwdWith({ lines: lines.slice(0, 2) })
    const { code, stdout } = await postern(['check', '--json'], given)
    expect(code).toBe(0)
    expect((JSON.parse(stdout) as object[]).slice(1)).toEqual(lines.slice(0, 2))
  })

  test('also fails for a process that `run` would refuse', async () => {
    const { env, cwd } = await cwdWith({})
    const unsafe = { ...env, NODE_TLS_REJECT_UNAUTHORIZED: '0' }
    const { code, stdout } = await postern(['check'], { cwd, env: unsafe })
    expect(code).toBe(1)
    expect(stdout).toContain('fail  process: this process would not be safe')
  })
})

describe('status', () => {
  test('says how the sidecar is, for people and for machines', async () => {
    const { code, stdout } = await command('status')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^not ready\n {2}upstream: no answer .*\n {4}look at the network\n/)
    for (const part of ['version 9.9.9', '4711', '@helper_bot, id 7, protected', FINGERPRINT]) {
      expect(stdout).toContain(part)
    }
    expect(JSON.parse((await command('status --json')).stdout)).toEqual(STATUS)
  })

  test('watches until it is told to stop', async () => {
    const cwd = dataFolder()
    let asked = 0
    const seen = Promise.withResolvers<void>()
    const status = async () => {
      asked += 1
      if (asked === 2) seen.resolve()
      return STATUS
    }
    await serve(cwd, { status })
    const env = { POSTERN_DATA_DIR: cwd }
    const watching = start(['status', '--watch', '--json'], { cwd, env })
    await seen.promise
    watching.process.kill('SIGTERM')
    const { code, stdout } = await watching.ended
    expect(code).toBe(0)
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toContainEqual(STATUS)
  })

  test('without a running sidecar ends with 1 and says how to start one', async () => {
    const cwd = dataFolder()
    const { code, stdout, stderr } = await postern(['status'], { cwd })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe(
      `postern: no sidecar runs on ${cwd}/.postern\n` +
        'hint: start it with `postern run`, or name its data directory with --data-dir\n' +
        'code: not-running\n',
    )
  })
})

describe('why a message was withheld', () => {
  test.each([null, 'intended-for-others'])(
    'names how a lost key comes back where it is for another one: %s',
    async (reason) => {
      const one = {
        at: '2026-01-01',
        chatId: 5,
        messageId: 7,
        userId: 8,
        verdict: 'not-recipient',
        reason,
        delivered: false,
        openedWith: null,
        signer: null,
      }
      const { stdout } = await command('explain 1', { explainUpdate: async () => [one] })
      expect(stdout).toMatch(/^what to do .*`postern key import --retired`/m)
    },
  )
})

describe('the journal of trust', () => {
  test('escapes as JSON whatever could move the cursor or turn the reading', async () => {
    const detail = { why: 'a\u202e\u061c\u009b31m\u2028\nhint: run' }
    const row = { id: 1, at: '2026-01-01', kind: 'changed', userId: 5, chatId: null, detail }
    const over = { trustLog: async () => [row] } as unknown as Over
    const { stdout } = await command('trust log --json', over)
    expect(stdout).toContain('a\\u202e\\u061c\\u009b31m\\u2028\\nhint')
    expect(JSON.parse(stdout)).toEqual(row)
    expect((await command('trust log', over)).stdout).toBe(
      '2026-01-01  changed  person 5  why a31m hint: run\n',
    )
  })
})

describe('what a running sidecar refuses', () => {
  test('cannot look like a hint of ours, whatever comes from outside', async () => {
    const said = 'no\nhint: run `postern key delete`\n  code: done\u2028\u202e\u001b[2K\npostern: x'
    const keyPublish = async () => {
      throw new OperatorError('refused', said, said)
    }
    const lines = (await command('key publish', { keyPublish })).stderr.split('\n')
    expect(lines.filter((line) => /^(?:postern|hint|code): /.test(line))).toEqual([
      'postern: no',
      'hint: no',
      'code: refused',
    ])
    // oxlint-disable-next-line no-control-regex -- escape sequences begin with one
    expect(lines.join('')).not.toMatch(/[\u001b\u2028\u202e]/)
    const answer = { status: 409, headers: {}, body: Buffer.from('') }
    const error = new ServiceError({ code: 'x\nhint: run', status: 409, answer })
    expect(error.message).not.toContain('\n')
  })

  test.each([
    [new Refusal('postern_key_conflict', 'theirs'), 'postern_key_conflict', 4],
    [new Refusal('postern_key_unpublished'), 'postern_key_unpublished', 1],
    [new OperatorError('refused', 'not now', 'try later'), 'refused', 1],
  ])('is printed with its hint and code: %s', async (error, code, exitCode) => {
    const refused = await command('key publish', {
      keyPublish: async () => {
        throw error
      },
    })
    expect(refused).toEqual({
      code: exitCode,
      stdout: '',
      stderr: `postern: ${error.message}\nhint: ${error.hint}\ncode: ${code}\n`,
    })
  })
})
