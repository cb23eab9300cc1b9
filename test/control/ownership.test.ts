import { spawnSync } from '../support/programs.ts'
import { chmodSync, chownSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connectControl } from '../../src/control/client.ts'
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
    `await import(${JSON.stringify(pathToFileURL(join(SOURCES, 'control/client.ts')).href)})`,
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
    'the folder that a pointer names was taken over by another user after a crash',
    'belongs to user 65534',
    async () => {
      const made = await elsewhere()
      stolen(made.folder, made.path)
      return made
    },
    true,
  ],
  [
    'the folder is ours and the socket in it is another user’s',
    'belongs to user 65534',
    async () => {
      const made = await elsewhere()
      stolen(made.path)
      return made
    },
    true,
  ],
  [
    'the folder is open to others',
    'mode 755',
    async () => {
      const made = await elsewhere()
      chmodSync(made.folder, 0o755)
      return made
    },
  ],
  [
    'the folder lies where others can put another in its place',
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
      `the socket is open to others (mode ${mode})`,
      `mode ${mode}`,
      async () => {
        const dataDir = dataFolder()
        const path = join(dataDir, 'control.sock')
        return { dataDir, thief: await listener(path, Number.parseInt(mode, 8)) }
      },
    ],
  ),
  [
    'the socket in dataDir is a link',
    'symbolic link',
    async () => {
      const { dataDir, path, thief } = await elsewhere(socketFolder(), dataFolder())
      rmSync(join(dataDir, 'control.path'))
      symlinkSync(path, join(dataDir, 'control.sock'))
      return { dataDir, thief }
    },
  ],
  [
    'the folder that a pointer names is a link',
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
    'the socket that a pointer names is a link',
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
    'the pointer is a link',
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
    'dataDir is open to others',
    'mode 770',
    async () => {
      const dataDir = dataFolder()
      const thief = await listener(join(dataDir, 'control.sock'))
      chmodSync(dataDir, 0o770)
      return { dataDir, thief }
    },
  ],
  [
    'dataDir is that user’s who leads root to a socket of root’s own',
    'belongs to user 0, not 65534',
    async () => {
      const made = await elsewhere()
      stolen(made.dataDir, join(made.dataDir, 'control.path'))
      return made
    },
    true,
  ],
]

describe('a socket that is not its owner’s alone is not connected to', () => {
  for (const [what, reason, scene, needsRoot = false] of SCENES) {
    test.skipIf(needsRoot && !isRoot)(what, async () => {
      const { dataDir, thief } = await scene()
      await expect(protect(dataDir)).rejects.toMatchObject(refused(reason))
      expect(thief.heard()).toBe('')
    })
  }

  test.skipIf(!canBeNobody)('dataDir is another user’s', async () => {
    const dataDir = dataFolder(1)
    const thief = await listener(join(dataDir, 'control.sock'), 0o777)
    chmodSync(dataDir, 0o755)
    chmodSync(dirname(dataDir), 0o755)
    const { stdout } = asNobody(`
      const { connectControl } = await import(${JSON.stringify(pathToFileURL(join(SOURCES, 'control/client.ts')).href)})
      await connectControl(${JSON.stringify(dataDir)}).then(
        async (control) => console.log(await control.keyProtect({ protection: 'passphrase', passphrase: 'words' })),
        (error) => console.log(error.code, error.message, error.hint),
      )
      process.exit()`)
    expect(stdout).toMatch(/^data-dir .*belongs to user 0, not 65534 run this command as the user/)
    expect(thief.heard()).toBe('')
  })
})

describe('root', () => {
  test.skipIf(!isRoot)('reaches the sidecar of the user whom dataDir belongs to', async () => {
    const dataDir = dataFolder()
    const control = await serve(dataDir)
    for (const one of [dataDir, join(dataDir, 'control.sock')]) chownSync(one, NOBODY, NOBODY)
    await using client = await connectControl(dataDir)
    expect(await client?.status()).toEqual(STATUS)
    await control[Symbol.asyncDispose]()
  })
})

describe('a link to dataDir', () => {
  test('is followed: it is the operator’s', async () => {
    const dataDir = dataFolder()
    await serve(dataDir)
    const link = join(dataFolder(), 'link')
    symlinkSync(dataDir, link)
    await using control = await connectControl(link)
    expect(await control?.status()).toEqual(STATUS)
  })
})
