import { createConnection } from 'node:net'
import { describe, expect, test } from 'vitest'
import { dataFolder } from '../operators/support.ts'
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

describe('`postern run`', () => {
  test('`postern` without a command runs the sidecar, continues after SIGHUP and SIGUSR1, and ends with 0 after SIGINT', async () => {
    const { process: child, ended, admin } = await running()
    child.kill('SIGHUP')
    child.kill('SIGUSR1')
    expect((await fetch(`${admin}/healthz`)).status).toBe(200)
    child.kill('SIGINT')
    const { code, stdout, stderr } = await ended
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr.match(/"listening"/g)).toHaveLength(1)
    for (const line of stderr.trim().split('\n')) expect(JSON.parse(line)).toBeTypeOf('object')
  })

  test('a second signal ends a sidecar at once with 1', async () => {
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

  test('a sidecar continues when its output is closed', async () => {
    const { process: child, ended, admin } = await running({ ...PLAIN, POSTERN_LOG_LEVEL: 'trace' })
    child.stdout?.destroy()
    child.stderr?.destroy()
    for (let calls = 0; calls < 5; calls += 1) {
      expect((await fetch(`${admin}/healthz`)).status).toBe(200)
    }
    child.kill('SIGTERM')
    expect((await ended).code).toBe(0)
  })
})

describe('an unsafe process', () => {
  test.each([
    ['NODE_TLS_REJECT_UNAUTHORIZED=0', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }, []],
    ['--insecure-http-parser', {}, ['--insecure-http-parser']],
    ['--insecure-http-parser', { NODE_OPTIONS: '--insecure-http-parser' }, []],
    ['inspector', {}, ['--inspect=127.0.0.1:0']],
  ])('`run` refuses to start with %s', async (reason, env, node) => {
    const cwd = dataFolder()
    const { code, stderr } = await postern(['run'], { cwd, env: { ...TOKENS, ...env }, node })
    expect(code).toBe(2)
    expect(stderr).toContain('postern: this process would not be safe')
    expect(stderr).toContain(reason)
    expect(stderr).toContain('code: environment')
  })
})
