// Installs a package in an empty folder, and uses it there with an empty environment: the demo, then
// the sandbox as the service, `postern check`, `postern run` and a bot of the package's examples.
//
//   node try-package.mjs postern-0.1.0.tgz
import { equal } from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'

const [file] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'try-package-'))
const postern = join(folder, 'node_modules/.bin/postern')
const empty = { PATH: process.env.PATH, HOME: folder }
const started = []

function run(program, args, settings = {}) {
  const env = { ...empty, ...settings }
  return execFileSync(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
}

// Starts a program that goes on. Resolves with the first line of JSON that has this field.
async function start(args, settings, field) {
  const child = spawn(postern, args, { cwd: folder, env: { ...empty, ...settings } })
  started.push(child)
  const lines = new PassThrough()
  for (const stream of [child.stdout, child.stderr]) stream.pipe(lines, { end: false })
  child.once('exit', () => lines.end())
  for await (const line of createInterface({ input: lines })) {
    const read = line.startsWith('{') ? JSON.parse(line) : {}
    if (read[field] === undefined) continue
    lines.resume()
    return read
  }
  throw new Error(`postern ${args[0]} ended`)
}

try {
  writeFileSync(join(folder, 'package.json'), '{}')
  const install = ['install', '--omit=optional', '--prefer-offline', '--no-audit', '--no-fund']
  execFileSync('npm', [...install, resolve(file)], { cwd: folder, stdio: 'inherit' })
  const demo = run(postern, ['demo', '--once']).toString()
  if (demo.match(/✓ signature verified/g)?.length !== 2) throw new Error(`the demo failed: ${demo}`)
  const manifest = readFileSync(join(folder, 'node_modules/postern/package.json'), 'utf8')
  equal(run(postern, ['--version']).toString(), `${JSON.parse(manifest).version}\n`)
  process.stdout.write('the demo passes\n')
  copyFileSync(join(import.meta.dirname, 'try-exports.mjs'), join(folder, 'try-exports.mjs'))
  run('node', ['try-exports.mjs'])
  process.stdout.write('the exports work\n')

  const { url, bots } = await start(['sandbox', '--json'], {}, 'url')
  const token = join(folder, 'token')
  writeFileSync(token, bots[0].token, { mode: 0o600 })
  const settings = {
    POSTERN_UPSTREAM_URL: url,
    POSTERN_BOT_TOKEN_FILE: token,
    POSTERN_DATA_DIR: join(folder, 'data'),
    POSTERN_KEY_PROTECTION: 'none',
    POSTERN_LISTEN_PORT: '0',
    POSTERN_ADMIN_PORT: '0',
  }
  run(postern, ['check'], settings)
  process.stdout.write('the check passes\n')

  const { bot, admin } = await start(['run'], settings, 'admin')
  while ((await fetch(`${admin}/readyz`)).status !== 200) await pause(200)
  const echo = join(folder, 'node_modules/postern/config/examples/bots/echo.mjs')
  const child = spawn('node', [echo], { env: { ...empty, BASE_URL: bot, BOT_TOKEN_FILE: token } })
  started.push(child)
  const answer = run(postern, ['sandbox', 'say', 'alice', 'dm', 'hello', '--wait', '60']).toString()
  if (!/you said: hello.*✓ verified/.test(answer))
    throw new Error(`the bot did not answer: ${answer}`)
  process.stdout.write('the bot answers sealed\n')
} finally {
  for (const child of started) child.kill()
  await Promise.all(started.map((child) => child.exitCode ?? once(child, 'exit')))
  rmSync(folder, { recursive: true, force: true })
}
