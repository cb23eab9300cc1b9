/** The sandbox as a service beside a bot in Python, as the example composes them. */
import { isInstalled, run, spawn } from '../support/programs.ts'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { createControlClient } from '../../src/sandbox/control/table.ts'
import { readStage } from '../support/dockerfile.ts'
import { mortal } from '../support/mortal.ts'
import { spawnPostern } from '../support/postern-process.ts'

const FOLDER = 'config/examples'
const FILE = `${FOLDER}/sandbox-compose.yaml`

interface Service {
  build?: { context: string; target: string }
  command: string[]
  volumes: string[]
  environment?: Record<string, string>
}

interface Line {
  url: string
  controlUrl: string
  bots: { token: string }[]
  people: { id: number }[]
  chats: { id: number }[]
}

const { services } = parse(readFileSync(FILE, 'utf8')) as { services: Record<string, Service> }
const sandbox = services['sandbox'] as Service
const bot = services['bot'] as Service

/** A path inside a container as one of this machine. */
function outside(service: Service, path: string): string {
  const mounted = service.volumes.map((volume) => volume.split(':'))
  const [from] = mounted.find(([, to]) => to === path) ?? []
  return from === undefined ? path : resolve(FOLDER, from)
}

const image = readStage(sandbox.build?.target ?? '')

/** Starts what the image would run, on free ports. */
async function startSandbox(given: Record<string, string> = {}): Promise<Line> {
  const options = image.Entrypoint.slice(image.Entrypoint.indexOf('sandbox') + 1)
  const args = [...options, ...sandbox.command].map((arg) =>
    /^880[01]$/.test(arg) ? '0' : outside(sandbox, arg),
  )
  const { PATH = '' } = process.env
  const child = spawnPostern(['sandbox', ...args, '--json'], { cwd: '/', env: { PATH, ...given } })
  onTestFinished(() => void child.kill())
  const [line] = (await once(child.stdout as NodeJS.EventEmitter, 'data')) as [Buffer]
  return JSON.parse(String(line)) as Line
}

/** The status under a Host. */
async function status(host: string, port: string, path: string): Promise<number | undefined> {
  const asked = request({ host: '127.0.0.1', port, path, headers: { host } }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

test('sandbox-compose.yaml is accepted by Compose, and starts the bot once the sandbox is healthy', async ({
  skip,
}) => {
  skip(!isInstalled('docker-compose'), 'not installed: docker-compose')
  const env = { PATH: process.env['PATH'] }
  const { code, stdout, stderr } = await run('docker-compose', ['--file', FILE, 'config'], { env })
  expect([code, stderr]).toEqual([0, ''])
  const read = parse(String(stdout)) as { services: Record<string, object> }
  expect(read.services['bot']).toMatchObject({
    depends_on: { sandbox: { condition: 'service_healthy' } },
    environment: { BASE_URL: 'http://sandbox:8800' },
  })
  expect(read.services['sandbox']).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
})

test('the health check of the sandbox image passes while the sandbox runs, and fails otherwise', async () => {
  const { controlUrl } = await startSandbox()
  const [, program = '', , port = ''] = image.Healthcheck.Test
  expect(port).toBe('8801')
  const check = (at: string) => run(program, ['config/healthcheck.pl', at])
  expect((await check(new URL(controlUrl).port)).code).toBe(0)
  expect((await check('9')).code).toBe(1)
})

test('the bot of sandbox-compose.yaml answers a person with the token and host name of the example', async ({
  skip,
}) => {
  skip(!isInstalled('python3'), 'not installed: python3')
  const [name = ''] = Object.keys(sandbox.environment ?? {})
  const line = await startSandbox({ [name]: 'c'.repeat(32) })
  const { hostname, port } = new URL(line.url)
  const base = new URL(bot.environment?.['BASE_URL'] ?? '')
  expect([hostname, base.hostname]).toEqual(['sandbox', 'sandbox'])
  expect(await status('sandbox:8800', port, '/bot/v1/me')).toBe(401)
  expect(await status('bot:8800', port, '/bot/v1/me')).toBe(421)
  const token = outside(bot, bot.environment?.['BOT_TOKEN_FILE'] ?? '')
  expect(readFileSync(token, 'utf8').trim()).toBe(line.bots[0]?.token)

  const [, script = ''] = bot.command
  const child = spawn(...mortal('python3', [outside(bot, script)]), {
    env: { PATH: process.env['PATH'], BASE_URL: `http://127.0.0.1:${port}`, BOT_TOKEN_FILE: token },
    stdio: 'ignore',
  })
  onTestFinished(() => void child.kill())
  const controlPort = new URL(line.controlUrl).port
  const control = createControlClient(`http://postern:${'c'.repeat(32)}@127.0.0.1:${controlPort}`)
  const [userId = 0, chatId = 0] = [line.people[0]?.id, line.chats[0]?.id]
  await control.write({ userId, chatId, text: 'hello' })
  const texts = async () => {
    const { inbox } = await control.inbox({ userId })
    return inbox.map(({ text }) => text)
  }
  await expect.poll(texts, { timeout: 20_000 }).toEqual(['you said: hello'])
  const example = readFileSync(FILE, 'utf8')
  expect(example).toContain(`{"userId": ${userId}, "chatId": ${chatId}, "text": "hello"}`)
}, 40_000)
