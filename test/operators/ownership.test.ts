import { spawnSync } from '../support/programs.ts'
import { chmodSync, chownSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connectControl } from '../../src/operators/client.ts'
import { isRoot, listener, NOBODY, point, socketFolder } from './socket-support.ts'
import { dataFolder, serve, STATUS } from './support.ts'

const SOURCES = join(import.meta.dirname, '../../src')

/** Runs a module's text as another user. */
const asNobody = (script: string) =>
  spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    uid: NOBODY,
    gid: NOBODY,
    cwd: '/',
    env: {},
    encoding: 'utf8',
  })
const canBeNobody =
  isRoot &&
  asNobody(
    `await import(${JSON.stringify(pathToFileURL(join(SOURCES, 'operators/client.ts')).href)})`,
  ).status === 0

/** What an operator does who changes the passphrase. */
async function protect(dataDir: string): Promise<unknown> {
  await using control = await connectControl(dataDir)
  return await control?.keyProtect({ protection: 'passphrase', passphrase: 'the new words' })
}

const refused = (reason: string) => ({
  code: 'data-dir',
  exitCode: 3,
  message: expect.stringContaining(reason),
  hint: expect.stringMatching(/nothing was sent|run this command as the user/),
})

/** A data directory whose socket is elsewhere, in a folder as a sidecar makes one. */
async function elsewhere(folder = socketFolder(), dataDir = dataFolder(3)) {
  const path = join(folder, 'control.sock')
  const thief = await listener(path)
  point(dataDir, path)
  return { dataDir, folder, path, thief }
}
const stolen = (...paths: string[]) => paths.forEach((path) => chownSync(path, NOBODY, NOBODY))

/** Makes a socket that somebody listens at, and its data directory. */
type Scene = () => Promise<{ dataDir: string; thief: { heard: () => string } }>
const SCENES: [what: string, reason: string, scene: Scene, needsRoot?: true][] = [
  [
    'a pointer to a folder that another user owns',
    'belongs to user 65534',
    async () => {
      const made = await elsewhere()
      stolen(made.folder, made.path)
      return made
    },
    true,
  ],
  [
    'a socket of another user in our folder',
    'belongs to user 65534',
    async () => {
      const made = await elsewhere()
      stolen(made.path)
      return made
    },
    true,
  ],
  [
    'a pointer to a folder that others can open',
    'mode 755',
    async () => {
      const made = await elsewhere()
      chmodSync(made.folder, 0o755)
      return made
    },
  ],
  [
    'a pointer below a folder where others can write',
    'others can replace it',
    async () => {
      const open = dataFolder()
      const made = await elsewhere(mkdtempSync(join(open, 'postern-control-')))
      chmodSync(open, 0o777)
      return made
    },
  ],
  ...['666', '660', '640', '620', '610', '606', '604', '602', '601'].map(
    (mode): (typeof SCENES)[number] => [
      `a socket of mode ${mode}`,
      `mode ${mode}`,
      async () => {
        const dataDir = dataFolder()
        const path = join(dataDir, 'control.sock')
        return { dataDir, thief: await listener(path, Number.parseInt(mode, 8)) }
      },
    ],
  ),
  [
    'a symbolic link in place of the socket in dataDir',
    'symbolic link',
    async () => {
      const { dataDir, path, thief } = await elsewhere(socketFolder(), dataFolder())
      rmSync(join(dataDir, 'control.path'))
      symlinkSync(path, join(dataDir, 'control.sock'))
      return { dataDir, thief }
    },
  ],
  [
    'a pointer to a linked folder',
    'symbolic link',
    async () => {
      const { dataDir, folder, thief } = await elsewhere()
      const linked = join(dirname(folder), `${basename(folder)}-link`)
      symlinkSync(folder, linked)
      onTestFinished(() => rmSync(linked, { force: true }))
      point(dataDir, join(linked, 'control.sock'))
      return { dataDir, thief }
    },
  ],
  [
    'a pointer to a linked socket',
    'symbolic link',
    async () => {
      const { dataDir, path, thief } = await elsewhere()
      const other = join(socketFolder(), 'control.sock')
      symlinkSync(path, other)
      point(dataDir, other)
      return { dataDir, thief }
    },
  ],
  [
    'a symbolic link in place of the pointer',
    'symbolic link',
    async () => {
      const { dataDir, thief } = await elsewhere()
      const moved = join(dataFolder(), 'pointer')
      renameSync(join(dataDir, 'control.path'), moved)
      symlinkSync(moved, join(dataDir, 'control.path'))
      return { dataDir, thief }
    },
  ],
  [
    'a dataDir that others can open',
    'mode 770',
    async () => {
      const dataDir = dataFolder()
      const thief = await listener(join(dataDir, 'control.sock'))
      chmodSync(dataDir, 0o770)
      return { dataDir, thief }
    },
  ],
  [
    'a dataDir of another user with a pointer to a socket of root',
    'belongs to user 0, not 65534',
    async () => {
      const made = await elsewhere()
      stolen(made.dataDir, join(made.dataDir, 'control.path'))
      return made
    },
    true,
  ],
]

describe('`connectControl`', () => {
  for (const [what, reason, scene, needsRoot = false] of SCENES) {
    test.skipIf(needsRoot && !isRoot)(
      `\`connectControl\` refuses ${what}, and sends nothing`,
      async () => {
        const { dataDir, thief } = await scene()
        await expect(protect(dataDir)).rejects.toMatchObject(refused(reason))
        expect(thief.heard()).toBe('')
      },
    )
  }

  test.skipIf(!canBeNobody)(
    'a dataDir of another user is refused, and nothing is sent to its socket',
    async () => {
      const dataDir = dataFolder(1)
      const thief = await listener(join(dataDir, 'control.sock'), 0o777)
      chmodSync(dataDir, 0o755)
      chmodSync(dirname(dataDir), 0o755)
      const { stdout } = asNobody(`
      const { connectControl } = await import(${JSON.stringify(pathToFileURL(join(SOURCES, 'operators/client.ts')).href)})
      await connectControl(${JSON.stringify(dataDir)}).then(
        async (control) => console.log(await control.keyProtect({ protection: 'passphrase', passphrase: 'words' })),
        (error) => console.log(error.code, error.message, error.hint),
      )
      process.exit()`)
      expect(stdout).toMatch(
        /^data-dir .*belongs to user 0, not 65534 run this command as the user/,
      )
      expect(thief.heard()).toBe('')
    },
  )
})

test.skipIf(!isRoot)('root reaches the sidecar of the user who owns dataDir', async () => {
  const dataDir = dataFolder()
  const control = await serve(dataDir)
  for (const one of [dataDir, join(dataDir, 'control.sock')]) chownSync(one, NOBODY, NOBODY)
  await using client = await connectControl(dataDir)
  expect(await client?.status()).toEqual(STATUS)
  await control[Symbol.asyncDispose]()
})

test('a symbolic link to dataDir is followed', async () => {
  const dataDir = dataFolder()
  await serve(dataDir)
  const link = join(dataFolder(), 'link')
  symlinkSync(dataDir, link)
  await using control = await connectControl(link)
  expect(await control?.status()).toEqual(STATUS)
})
