/** How one comes to the page of a sandbox. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { dataFolder } from '../control/support.ts'
import { postern, start } from './support.ts'

/** An environment in which the system's opener writes down what it was asked to open. */
function withOpener(): { cwd: string; env: Record<string, string>; opened: () => string } {
  const cwd = dataFolder()
  const bin = join(cwd, 'bin')
  const note = join(cwd, 'opened')
  mkdirSync(bin)
  writeFileSync(
    join(bin, 'xdg-open'),
    `#!/bin/sh\nprintf %s "$*" > ${note}.new && mv ${note}.new ${note}\n`,
  )
  chmodSync(join(bin, 'xdg-open'), 0o700)
  return {
    cwd,
    env: { PATH: `${bin}:${process.env['PATH']}`, TMPDIR: cwd },
    opened: () => (existsSync(note) ? readFileSync(note, 'utf8') : ''),
  }
}

const titleAt = async (url: string): Promise<string> =>
  /<title>(.*)<\/title>/.exec(await (await fetch(url)).text())?.[1] ?? ''

test('the sandbox prints the address of its page, and --open shows it in the browser', async () => {
  const { cwd, env, opened } = withOpener()
  const { waitForStdout } = start(['sandbox', '--open'], { cwd, env })
  const [, url = ''] = await waitForStdout(/^page +(\S+)$/m)
  expect(await titleAt(url)).toBe('Postern sandbox')
  await expect.poll(opened).toBe(url)
})

test('nothing is opened that nobody asked for, and a missing opener is no failure', async () => {
  const { cwd, env, opened } = withOpener()
  const quiet = start(['sandbox', '--json'], { cwd, env })
  const [line] = await quiet.waitForStdout(/^.*\n/)
  const { pageUrl } = JSON.parse(line) as { pageUrl: string }
  expect([await titleAt(pageUrl), opened()]).toEqual(['Postern sandbox', ''])
  const node = join(process.execPath, '..')
  const bare = start(['sandbox', '--open', '--json'], { cwd, env: { PATH: node } })
  await bare.waitForStdout(/^.*\n/)
  bare.process.kill('SIGTERM')
  expect((await bare.ended).code).toBe(0)
})

test('--page-port chooses its port, and one that is taken is refused by name', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const taken = await postern(['sandbox', '--page-port', String(port)], { cwd: dataFolder() })
  expect([taken.code, taken.stdout]).toEqual([1, ''])
  expect(taken.stderr).toContain(`port ${port} is in use`)
  expect(taken.stderr).toContain('--page-port')
  server.close()
  await once(server, 'close')
  const { waitForStdout } = start(['sandbox', '--page-port', String(port)], { cwd: dataFolder() })
  const [, url] = await waitForStdout(/^page +(\S+)$/m)
  expect(url).toBe(`http://127.0.0.1:${port}`)
})

test('on another address than loopback there is a page only where it is asked for', async () => {
  const cwd = dataFolder()
  const hidden = start(['sandbox', '--json', '--host', '0.0.0.0'], { cwd })
  const [without] = await hidden.waitForStdout(/^.*\n/)
  expect(JSON.parse(without)).toMatchObject({ pageUrl: null })
  const shown = start(['sandbox', '--json', '--host', '0.0.0.0', '--page-port', '0'], { cwd })
  const [line] = await shown.waitForStdout(/^.*\n/)
  const { pageUrl } = JSON.parse(line) as { pageUrl: string }
  const { origin, search } = new URL(pageUrl)
  expect(search).toMatch(/^\?token=[\w-]{43}$/)
  expect((await fetch(origin)).status).toBe(401)
  const { headers } = await fetch(pageUrl, { redirect: 'manual' })
  const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';')
  expect(await (await fetch(origin, { headers: { cookie } })).text()).toContain('<title>')
})

test('the demo has the page too, which sees through its sidecar', async () => {
  const { cwd, env, opened } = withOpener()
  const { waitForStderr } = start(['demo', '--open'], { cwd, env, input: '' })
  const [, url = ''] = await waitForStderr(/in your browser: (\S+)$/m)
  await expect.poll(opened).toBe(url)
  const answer = await fetch(`${url}/traffic`)
  const { result } = (await answer.json()) as { result: { exchanges: { answer: string }[] } }
  expect(result.exchanges.some((one) => one.answer.includes('"verdict":"verified"'))).toBe(true)
})
