import { createConnection } from 'node:net'
import { describe, expect, test } from 'vitest'
import { dataFolder } from '../control/support.ts'
import { postern, silentService, start, TOKEN, TOKENS } from './support.ts'

const LISTENING = /"bot":"(http:\/\/127\.0\.0\.1:\d+)","admin":"(http:\/\/127\.0\.0\.1:\d+)"/

/** For what is not about secrets. */
const PLAIN = { ...TOKENS, POSTERN_KEY_PROTECTION: 'none' }

async function running(env: Record<string, string> = PLAIN, node: string[] = []) {
  const cwd = dataFolder()
  const started = start([], { cwd, env, node })
  const [, bot = '', admin = ''] = await started.waitForStderr(LISTENING)
  return { ...started, cwd, bot, admin }
}

describe('postern run', () => {
  test('is what `postern` alone does: one line with the addresses, and 0 after SIGTERM', async () => {
    const { process: child, ended, admin } = await running()
    expect((await fetch(`${admin}/healthz`)).status).toBe(200)
    child.kill('SIGTERM')
    const { code, stdout, stderr } = await ended
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr.match(/"listening"/g)).toHaveLength(1)
    for (const line of stderr.trim().split('\n')) expect(JSON.parse(line)).toBeTypeOf('object')
  })

  test('ends with 0 after SIGINT too', async () => {
    const { process: child, ended } = await running()
    child.kill('SIGINT')
    expect((await ended).code).toBe(0)
  })

  test('goes on after SIGHUP, and opens no inspector at SIGUSR1', async () => {
    const { process: child, ended, admin } = await running()
    child.kill('SIGHUP')
    child.kill('SIGUSR1')
    expect((await fetch(`${admin}/healthz`)).status).toBe(200)
    child.kill('SIGTERM')
    const { code, stderr } = await ended
    expect(code).toBe(0)
    expect(stderr).not.toContain('Debugger')
  })

  test('ends at once with 1 at a second signal, whatever is under way', async () => {
    const requests: string[] = []
    const {
      process: child,
      ended,
      waitForStderr,
      bot,
    } = await running({ ...PLAIN, ...(await silentService((text) => requests.push(text))) })
    const { port } = new URL(bot)
    const socket = createConnection(Number(port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      `GET /bot/v1/commands HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`,
    )
    await expect.poll(() => requests.join('')).toContain('GET /bot/v1/commands')
    child.kill('SIGTERM')
    await waitForStderr(/"stopping"/)
    child.kill('SIGTERM')
    expect((await ended).code).toBe(1)
  })

  test('goes on when nobody reads what it says', async () => {
    const { process: child, ended, admin } = await running({ ...PLAIN, POSTERN_LOG_LEVEL: 'trace' })
    child.stdout?.destroy()
    child.stderr?.destroy()
    for (let calls = 0; calls < 5; calls += 1) {
      expect((await fetch(`${admin}/healthz`)).status).toBe(200)
    }
    child.kill('SIGTERM')
    expect((await ended).code).toBe(0)
  })

  test('says no secret, at any level', async () => {
    const env = { ...TOKENS, POSTERN_LOG_LEVEL: 'trace' }
    const { process: child, ended, bot } = await running(env)
    await fetch(`${bot}/bot/v1/nothing?${TOKEN}`, {
      headers: { authorization: `Bearer ${TOKEN}x` },
    })
    child.kill('SIGTERM')
    const { stdout, stderr } = await ended
    expect(stdout + stderr).not.toMatch(/hunter2|swordfish/)
  })

  test('hands no secret on in its environment', async () => {
    const probe =
      'data:text/javascript,process.on("SIGWINCH",()=>console.error("ENV"+Object.keys(process.env)+"."))'
    const { process: child, waitForStderr } = await running(TOKENS, [`--import=${probe}`])
    child.kill('SIGWINCH')
    const [names] = await waitForStderr(/ENV.*\./)
    expect(names).toContain('POSTERN_UPSTREAM_URL')
    expect(names).not.toMatch(/TOKEN|PASSPHRASE/)
  })

  test('refuses a second sidecar on its data directory, and goes on', async () => {
    const { cwd, process: first, ended, admin } = await running()
    const second = await postern(['run'], { cwd, env: PLAIN })
    expect(second).toMatchObject({ code: 1, stdout: '' })
    expect(second.stderr).toContain(`process ${first.pid}`)
    expect(second.stderr).toContain('code: store-in-use')
    expect((await fetch(`${admin}/healthz`)).status).toBe(200)
    first.kill('SIGTERM')
    expect((await ended).code).toBe(0)
  })

  test('is reached by commands without any other setting than dataDir', async () => {
    const { cwd } = await running()
    const { code, stdout } = await postern(['status', '--json'], { cwd })
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ ready: false })
    expect(await postern(['chat', 'list'], { cwd })).toMatchObject({ code: 0, stdout: '' })
  })
})

describe('a process that would not be safe', () => {
  test.each([
    ['NODE_TLS_REJECT_UNAUTHORIZED=0', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }, []],
    ['--insecure-http-parser', {}, ['--insecure-http-parser']],
    ['--insecure-http-parser', { NODE_OPTIONS: '--insecure-http-parser' }, []],
    ['inspector', {}, ['--inspect=127.0.0.1:0']],
  ])('is refused at the start: %s', async (reason, env, node) => {
    const cwd = dataFolder()
    const { code, stderr } = await postern(['run'], { cwd, env: { ...TOKENS, ...env }, node })
    expect(code).toBe(2)
    expect(stderr).toContain('postern: this process would not be safe')
    expect(stderr).toContain(reason)
    expect(stderr).toContain('code: environment')
  })
})

describe('what nobody foresaw', () => {
  const after = (code: string) =>
    `--import=data:text/javascript,const t=setInterval(()=>{if(process.listenerCount('uncaughtException')){clearInterval(t);${code}}},1)`

  test.each([
    ['a rejection', 'Promise.reject(new TypeError("words"))'],
    ['an exception', 'throw new TypeError("words")'],
    ['one that is no error', 'throw "words"'],
  ])('%s ends it with 1 and without its words', async (_name, code) => {
    const cwd = dataFolder()
    const ended = await postern(['run'], { cwd, env: TOKENS, node: [after(code)] })
    expect(ended.code).toBe(1)
    expect(ended.stderr).toMatch(/postern: internal failure \((TypeError|string)\)\nhint: /)
    expect(ended.stderr).not.toContain('words')
  })
})
