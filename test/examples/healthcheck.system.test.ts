/** The image's health check, against sidecars in every state. The image itself: test/container. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { postern, silentService, start } from '../cli/support.ts'
import { isInstalled, run } from '../support/programs.ts'
import { dataFolder, serve } from '../operators/support.ts'

const isHere = process.platform === 'linux' && isInstalled('perl')
const check = (dataDir: string, ...args: string[]) =>
  run('perl', ['config/healthcheck.pl', ...args], { env: { POSTERN_DATA_DIR: dataDir } })

async function startSidecar(dataDir: string) {
  const env = { ...(await silentService()), POSTERN_DATA_DIR: dataDir }
  const sidecar = start(['run'], { cwd: dataDir, env })
  await sidecar.waitForStderr(/"msg":"listening"/)
  onTestFinished(() => void sidecar.process.kill('SIGKILL'))
  return sidecar
}

test.skipIf(!isHere)(
  'the health check passes while the sidecar answers, and fails when the sidecar is gone',
  async () => {
    const dataDir = dataFolder()
    expect(await check(dataDir)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('nothing listens'),
    })
    const sidecar = await startSidecar(dataDir)
    expect(await check(dataDir)).toMatchObject({ code: 0, stderr: '' })
    sidecar.process.kill('SIGKILL')
    await sidecar.ended
    expect(await check(dataDir)).toMatchObject({ code: 1 })
  },
)

test.skipIf(!isHere)(
  'the health check with --ready reports the same reasons as `postern status --ready`',
  async () => {
    const dataDir = dataFolder()
    await startSidecar(dataDir)
    const asked = await postern(['status', '--ready'], {
      cwd: dataDir,
      env: { POSTERN_DATA_DIR: dataDir },
    })
    const codes = /not ready: (.*)/.exec(asked.stderr)?.[1]
    expect([asked.code, codes]).toEqual([1, expect.stringContaining('starting')])
    expect(await check(dataDir, '--ready')).toMatchObject({
      code: 1,
      stderr: `not ready: ${codes}\n`,
    })
  },
)

test.skipIf(!isHere)('the health check fails when the sidecar hangs', async () => {
  const dataDir = dataFolder()
  const sidecar = await startSidecar(dataDir)
  sidecar.process.kill('SIGSTOP')
  expect(await check(dataDir)).toMatchObject({ code: 1, stderr: 'no answer within 5 s\n' })
})

/** Something else that listens where the sidecar should. @returns how many bytes it could send */
async function impostor(dataDir: string, speak: (socket: Socket) => void): Promise<() => number> {
  const server = createServer()
  let sent = 0
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => {})
    socket.on('close', () => (sent += socket.bytesWritten))
    speak(socket)
  })
  await new Promise<void>((resolve) => void server.listen(join(dataDir, 'control.sock'), resolve))
  onTestFinished(() => void server.close())
  return () => sent
}

/** Sends on and on. */
function flood(socket: Socket, head: string): void {
  const more = Buffer.alloc(65_536, 0x20)
  const send = (): void => {
    while (!socket.destroyed && socket.write(more)) continue
  }
  socket.on('drain', send)
  socket.write(head)
  send()
}

test.skipIf(!isHere).each([
  ['bytes without HTTP', 'SSH-2.0-nothing\r\n'],
  ['an endless answer', 'HTTP/1.1 200 OK\r\n\r\n{"ready":true'],
])('the health check fails on %s, and reads a bounded number of bytes', async (_what, head) => {
  const dataDir = dataFolder()
  const sent = await impostor(dataDir, (socket) => flood(socket, head))
  expect(await check(dataDir, '--ready')).toMatchObject({
    code: 1,
    stderr: 'it does not answer as it should\n',
  })
  await expect.poll(sent).toBeGreaterThan(0)
  expect(sent()).toBeLessThan(8 * 2 ** 20)
})

test.skipIf(!isHere)('the health check fails on an answer that arrives byte by byte', async () => {
  const dataDir = dataFolder()
  await impostor(dataDir, (socket) => {
    const timer = setInterval(() => socket.write('H'), 100)
    socket.on('close', () => clearInterval(timer))
  })
  expect(await check(dataDir)).toMatchObject({ code: 1, stderr: 'no answer within 5 s\n' })
})

test.skipIf(!isHere)(
  'the health check prints the reasons and no warnings or texts of the status',
  async () => {
    const dataDir = dataFolder()
    const status = {
      ready: false,
      reasons: [{ code: 'store', message: '"code":"token" "ready":true ],"warnings":[' }],
      warnings: [{ code: 'disk-filling', message: '' }],
      webhook: { lastError: '"ready":true' },
    }
    await impostor(dataDir, (socket) =>
      socket.end(`HTTP/1.1 200 OK\r\n\r\n${JSON.stringify(status)}`),
    )
    expect(await check(dataDir, '--ready')).toMatchObject({ code: 1, stderr: 'not ready: store\n' })
  },
)

test.skipIf(!isHere || process.getuid?.() !== 0)(
  'the health check of another user cannot connect',
  async () => {
    const dataDir = dataFolder()
    await serve(dataDir)
    const asNobody = ['--reuid=65534', '--clear-groups', 'perl']
    const script = readFileSync('config/healthcheck.pl', 'utf8')
    const { code, stderr } = await run('setpriv', [...asNobody, '-e', script], {
      env: { POSTERN_DATA_DIR: dataDir, PATH: '/usr/bin:/bin' },
    })
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('nothing listens: Permission denied'),
    ])
  },
)

test.skipIf(!isHere)(
  'the health check finds the socket of a data directory with a long path',
  async () => {
    const dataDir = dataFolder(2)
    await serve(dataDir)
    expect(await check(dataDir)).toMatchObject({ code: 0, stderr: '' })
    writeFileSync(join(dataDir, 'control.path'), '')
    expect(await check(dataDir)).toMatchObject({ code: 1 })
    rmSync(join(dataDir, 'control.path'))
    expect(await check(dataDir)).toMatchObject({ code: 1 })
  },
)

test.skipIf(!isHere)('the health check without POSTERN_DATA_DIR fails', async () => {
  const { code, stderr } = await run('perl', ['config/healthcheck.pl'], { env: {} })
  expect([code, stderr]).toEqual([1, 'POSTERN_DATA_DIR is not set\n'])
})
