import { spawnSync } from '../support/programs.ts'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openDevFolder } from '../../src/cli/dev-folder.ts'
import { temporaryFolder } from '../sandbox/world-file.ts'

const PORTS = { port: 1, adminPort: 2, sandboxPort: 3, controlPort: 4, pagePort: 5 }
const open = (path: string, fresh = false) => openDevFolder(path, { fresh })
const mode = (path: string) => statSync(path).mode & 0o777

test('the folder of `dev` is readable by its owner alone and ignored by git', () => {
  const path = join(temporaryFolder(), 'below', '.postern-dev')
  using folder = open(path)
  expect(folder.ports).toEqual({})
  expect(mode(path)).toBe(0o700)
  expect(readFileSync(join(path, '.gitignore'), 'utf8')).toBe('*\n')
  const token = folder.keepToken('secret')
  expect([mode(token), readFileSync(token, 'utf8')]).toEqual([0o600, 'secret\n'])
  spawnSync('git', ['init', '--quiet'], { cwd: join(path, '..', '..') })
  const { stdout } = spawnSync('git', ['status', '--porcelain', '--untracked-files=all'], {
    cwd: join(path, '..', '..'),
    encoding: 'utf8',
  })
  expect(stdout).toBe('')
})

test('the folder of `dev` keeps the ports, and a new token overwrites the old one', () => {
  const path = join(temporaryFolder(), 'dev')
  {
    using folder = open(path)
    folder.keepPorts(PORTS)
    folder.keepToken('one')
  }
  using again = open(path)
  expect(again.ports).toEqual(PORTS)
  expect(readFileSync(again.keepToken('two'), 'utf8')).toBe('two\n')
})

test('a second process is refused with the id of the first, and leaves the world as it is', () => {
  const path = join(temporaryFolder(), 'dev')
  using folder = open(path)
  writeFileSync(folder.world, 'x')
  const refusal = expect.objectContaining({
    code: 'store-in-use',
    message: `\`postern dev\` already runs on ${path}, as process ${process.pid}`,
  })
  expect(() => open(path)).toThrow(refusal)
  expect(() => open(path, true)).toThrow(refusal)
  expect(existsSync(folder.world)).toBe(true)
})

test('a fresh start removes the world and no other file', () => {
  const path = join(temporaryFolder(), 'dev')
  {
    using folder = open(path)
    folder.keepPorts(PORTS)
    writeFileSync(folder.world, 'x')
    writeFileSync(`${folder.world}-wal`, 'x')
    mkdirSync(folder.sidecar)
    writeFileSync(join(folder.sidecar, 'x'), 'x')
    writeFileSync(join(path, 'notes.txt'), 'mine')
  }
  {
    using kept = open(path)
    expect(existsSync(kept.world)).toBe(true)
  }
  using fresh = open(path, true)
  expect(fresh.ports).toEqual(PORTS)
  const left = [fresh.world, `${fresh.world}-wal`, fresh.sidecar].map((file) => existsSync(file))
  expect(left).toEqual([false, false, false])
  expect(existsSync(join(path, 'notes.txt'))).toBe(true)
})

test('a folder with files of another program is refused and left unchanged', () => {
  const path = temporaryFolder()
  writeFileSync(join(path, 'world'), 'my own file')
  expect(() => open(path, true)).toThrow(
    expect.objectContaining({
      code: 'data-dir',
      message: expect.stringContaining('something else'),
    }),
  )
  expect(readFileSync(join(path, 'world'), 'utf8')).toBe('my own file')
})

test.each(['{"database": "dev"}', '[]', 'null', '{"pid": 1}', 'no JSON'])(
  'a folder whose dev.json contains %s is refused and left unchanged',
  (content) => {
    const path = temporaryFolder()
    const files = { world: 'my own file', 'dev.json': content }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text)
    const refusal = expect.objectContaining({ code: 'data-dir' })
    expect(() => open(path)).toThrow(refusal)
    expect(() => open(path, true)).toThrow(refusal)
    for (const [name, text] of Object.entries(files)) {
      expect(readFileSync(join(path, name), 'utf8')).toBe(text)
    }
  },
)

test('a folder that other users can read is refused', () => {
  const path = temporaryFolder()
  chmodSync(path, 0o755)
  expect(() => open(path)).toThrow(
    expect.objectContaining({
      code: 'data-dir',
      message: `${path} is open to others (mode 755)`,
      hint: expect.stringContaining('chmod 700'),
    }),
  )
})

test('a file in place of the folder is refused', () => {
  const path = join(temporaryFolder(), 'file')
  writeFileSync(path, 'x')
  expect(() => open(path)).toThrow(expect.objectContaining({ code: 'store-unwritable' }))
  expect(() => open(join(path, 'below'))).toThrow(
    expect.objectContaining({ code: 'store-unwritable' }),
  )
})

test('a token is not written through a symbolic link', () => {
  const path = join(temporaryFolder(), 'dev')
  const target = join(temporaryFolder(), 'target')
  writeFileSync(target, 'x')
  using folder = open(path)
  symlinkSync(target, join(path, 'token'))
  folder.keepToken('secret')
  expect(readFileSync(target, 'utf8')).toBe('x')
})

test.each([
  '',
  'not JSON',
  '[]',
  '{"ports":{"port":"8700","pagePort":70000,"adminPort":-1}}',
  'null',
])('the damaged dev.json %j is read as one without ports', (text) => {
  const path = join(temporaryFolder(), 'dev')
  open(path)[Symbol.dispose]()
  writeFileSync(join(path, 'dev.json'), text)
  using folder = open(path)
  expect(folder.ports).toEqual({})
})
