/** Whose a socket, its folder and its pointer are, where they lie, and what is made and removed. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'

import { EventEmitter, once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { basename, dirname, join, relative } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { connectControl } from '../../src/operators/client.ts'
import { connectSocket } from '../../src/operators/socket/connect.ts'
import { listenAtSocket } from '../../src/operators/socket/listen.ts'
import { fitsSocket, readPointer } from '../../src/operators/socket/location.ts'
import { isPrivate, ownerOf } from '../../src/operators/socket/ownership.ts'
import { isRoot, listener, NOBODY, point, socketFolder } from './socket-support.ts'
import { dataFolder, serve, STATUS } from './support.ts'

type Kind = Parameters<typeof isPrivate>[1]['kind']

const owner = process.getuid?.() ?? 0
const modeOf = (path: string): number => statSync(path).mode & 0o777

/** A server at a path, closed when the test ends. */
async function serverAt(path: string) {
  const server = createServer((socket) => void socket.on('error', () => {}).end())
  onTestFinished(() => void server.close())
  await once(server.listen(path), 'listening')
  return server
}

/** A socket at which nobody listens any more. */
async function deadSocket(path: string): Promise<void> {
  const server = await serverAt(`${path}x`)
  renameSync(`${path}x`, path)
  chmodSync(path, 0o600)
  server.close()
}

const MAKE: Record<Kind, (path: string) => unknown> = {
  file: (path) => writeFileSync(path, ''),
  folder: (path) => mkdirSync(path),
  socket: deadSocket,
}
const made = async (kind: Kind, mode: number): Promise<string> => {
  const path = join(dataFolder(), 'made')
  await MAKE[kind](path)
  chmodSync(path, mode)
  return path
}
/** This process as another user sees itself, for the length of a test. */
const asUser = (uid: number | null): void => {
  const { getuid } = process
  Object.assign(process, { getuid: uid === null ? undefined : () => uid })
  onTestFinished(() => void Object.assign(process, { getuid }))
}

describe('`isPrivate`', () => {
  const BITS = [0o040, 0o020, 0o010, 0o004, 0o002, 0o001]
  test.each([
    ['file', 0o600, [0o020, 0o002]],
    ['folder', 0o700, BITS],
    ['socket', 0o600, BITS],
  ] as const)(
    'a %s of mode %o is private until others may open it',
    async (kind, mode, forbidden) => {
      const path = await made(kind, mode)
      expect(isPrivate(path, { kind, owner })).toBe(true)
      for (const bit of BITS) {
        chmodSync(path, mode | bit)
        const isIt = () => isPrivate(path, { kind, owner })
        if (!(forbidden as readonly number[]).includes(bit)) expect(isIt()).toBe(true)
        else expect(isIt).toThrow(`${path} is open to others (mode ${(mode | bit).toString(8)})`)
      }
    },
  )

  test('owners and modes are not checked on a system without user ids', async () => {
    const path = await made('folder', 0o777)
    asUser(null)
    expect([isPrivate(path, { kind: 'folder', owner: NOBODY }), ownerOf(path)]).toEqual([
      true,
      owner,
    ])
    expect(() => isPrivate(path, { kind: 'file', owner })).toThrow('is no file')
  })
})

describe('`ownerOf`', () => {
  test('a data directory must belong to the user of the process, unless the user is root', () => {
    const dataDir = dataFolder()
    const theirs = isRoot ? NOBODY : owner
    if (isRoot) chownSync(dataDir, NOBODY, NOBODY)
    asUser(theirs + 1)
    expect(() => ownerOf(dataDir)).toThrow(`belongs to user ${theirs}, not ${theirs + 1}`)
    for (const user of [0, theirs]) {
      asUser(user)
      expect(ownerOf(dataDir)).toBe(theirs)
    }
  })
})

describe('paths of sockets', () => {
  test('a socket path has at most 100 bytes', () => {
    const fits = ['x'.repeat(100), 'x'.repeat(101), 'é'.repeat(50), 'é'.repeat(51)].map(fitsSocket)
    expect(fits).toEqual([true, false, true, false])
  })

  const GOOD = '/run/postern-control-x/control.sock'
  const longer = (bytes: number) => `/${'d'.repeat(bytes + 3 - GOOD.length)}${GOOD.slice(4)}`
  test.each([
    ['a path', `${GOOD}\n`, GOOD],
    ['a path with spaces', ` ${GOOD} \n\n`, GOOD],
    ['4096 bytes', longer(4096), longer(4096)],
    ['more than 4096 bytes', longer(4097), null],
    ['nothing', '', null],
    ['a relative path', GOOD.slice(1), null],
    ['a NUL', '/run/postern-control-\0/control.sock', null],
    ['dot segments', '/run/x/../postern-control-x/control.sock', null],
    ['another file name', '/run/postern-control-x/other.sock', null],
    ['another folder name', '/run/postern-x/control.sock', null],
    ['a folder name with that ending', '/run/xpostern-control-x/control.sock', null],
  ])('a pointer with %s is read as a path or as null', (_what, text, path) => {
    const dataDir = dataFolder()
    writeFileSync(join(dataDir, 'control.path'), text, { mode: 0o600 })
    expect(readPointer(dataDir, owner)).toBe(path)
  })

  test('a pointer of another user and a folder in its place are refused', () => {
    const dataDir = dataFolder()
    expect(readPointer(dataDir, owner)).toBeNull()
    point(dataDir, GOOD)
    expect(() => readPointer(dataDir, owner + 1)).toThrow('belongs to user')
    const other = dataFolder()
    mkdirSync(join(other, 'control.path'))
    expect(() => readPointer(other, owner)).toThrow('is no file')
  })
})

describe('`connectSocket`', () => {
  const connecting = async (dataDir: string): Promise<string | null> => {
    const socket = await connectSocket(dataDir)
    onTestFinished(() => void socket?.destroy())
    return socket && 'connected'
  }
  const near = (dataDir: string): string => join(dataDir, 'control.sock')

  test.each([
    ['in dataDir', 0, near],
    ['in the folder of the pointer', 3, () => join(socketFolder(), 'control.sock')],
  ])('a socket %s is connected to only while a server listens', async (_where, depth, pathFor) => {
    const dataDir = dataFolder(depth)
    const path = pathFor(dataDir)
    if (depth > 0) point(dataDir, path)
    expect(await connecting(dataDir)).toBeNull()
    await deadSocket(path)
    expect(await connecting(dataDir)).toBeNull()
    renameSync(path, `${path}-dead`)
    await serverAt(path)
    chmodSync(path, 0o600)
    expect(await connecting(dataDir)).toBe('connected')
  })

  test('a dataDir open to others is refused only when it contains a socket or pointer', async () => {
    for (const name of ['control.sock', 'control.path']) {
      const dataDir = dataFolder()
      chmodSync(dataDir, 0o755)
      expect(await connecting(dataDir)).toBeNull()
      writeFileSync(join(dataDir, name), '')
      await expect(connecting(dataDir)).rejects.toMatchObject({
        code: 'data-dir',
        message: `the control socket is not used: ${dataDir} is open to others (mode 755)`,
        hint: `run this command as the user that the sidecar runs as; ${dataDir} must be for that user alone (chmod 700)`,
        cause: { path: dataDir },
      })
    }
  })

  test('a file in place of the socket is refused, and nothing is sent', async () => {
    const dataDir = dataFolder()
    writeFileSync(near(dataDir), '')
    await expect(connecting(dataDir)).rejects.toMatchObject({
      code: 'data-dir',
      message: `the control socket is not used: ${near(dataDir)} is no socket`,
      hint: `nothing was sent; if no sidecar runs, remove control.sock and control.path from ${dataDir}, and find out who made the other`,
    })
  })
})

/** New files get this mask, until the test ends. */
function masked(mask: number): void {
  const before = process.umask(mask)
  onTestFinished(() => void process.umask(before))
}

describe('`listenAtSocket`', () => {
  const listening = async (dataDir: string, runtimeDir: string | null = null) => {
    const server = createServer((socket) => void socket.end())
    onTestFinished(() => void server.close())
    const place = await listenAtSocket(server, dataDir, runtimeDir)
    onTestFinished(() => place.clear())
    return { ...place, isListening: server.listening }
  }

  test('a sidecar listens at a socket of mode 0600 in dataDir, and removes the socket again', async () => {
    masked(0o027)
    const dataDir = dataFolder()
    const { path, clear, isListening } = await listening(dataDir)
    expect([path, modeOf(path), isListening]).toEqual([join(dataDir, 'control.sock'), 0o600, true])
    expect(process.umask()).toBe(0o027)
    clear()
    expect(existsSync(path)).toBe(false)
    clear()
  })

  test('a sidecar with a long dataDir listens in a new folder of mode 0700 named by a pointer', async () => {
    const dataDir = dataFolder(3)
    const runtimeDir = dataFolder()
    masked(0o177)
    const { path, clear } = await listening(dataDir, runtimeDir)
    const folder = dirname(path)
    expect([dirname(folder), basename(path)]).toEqual([runtimeDir, 'control.sock'])
    expect(basename(folder)).toMatch(/^postern-control-.{6}$/)
    expect([modeOf(folder), readPointer(dataDir, owner)]).toEqual([0o700, path])
    clear()
    const left = [path, folder, join(dataDir, 'control.path'), runtimeDir].map(existsSync)
    expect(left).toEqual([false, false, false, true])
  })

  test('a runtime folder that is foreign, open, linked, relative or missing is not used', async () => {
    const open = dataFolder()
    chmodSync(open, 0o750)
    const linked = join(dataFolder(), 'link')
    symlinkSync(dataFolder(), linked)
    const others = isRoot ? dataFolder() : '/'
    if (isRoot) chownSync(others, NOBODY, NOBODY)
    const near = relative(process.cwd(), dataFolder())
    for (const dir of [open, linked, others, near, '', '/nowhere/at/all', dataFolder(3)]) {
      const { path } = await listening(dataFolder(3), dir)
      expect(dirname(dirname(path))).not.toBe(dir)
    }
  })

  test('the socket, folder and pointer of a dead process are removed, and no other files', async () => {
    const dataDir = dataFolder(3)
    const folders = [socketFolder(), socketFolder(), socketFolder(), socketFolder()]
    const [bare = '', empty = '', used = '', open = ''] = folders
    writeFileSync(join(used, 'something'), '')
    chmodSync(open, 0o755)
    for (const folder of folders) {
      if (folder !== bare) await deadSocket(join(folder, 'control.sock'))
      writeFileSync(join(dataDir, 'control.sock'), '')
      point(dataDir, join(folder, 'control.sock'))
      const { path, clear } = await listening(dataDir)
      expect(dirname(path)).not.toBe(folder)
      expect(existsSync(join(dataDir, 'control.sock'))).toBe(false)
      clear()
    }
    const left = [bare, empty, join(used, 'control.sock'), join(used, 'something')]
    expect(left.map(existsSync)).toEqual([false, false, false, true])
    expect(existsSync(join(open, 'control.sock'))).toBe(true)
    const shorter = dataFolder()
    point(shorter, join(empty, 'control.sock'))
    await listening(shorter)
    expect(existsSync(join(shorter, 'control.path'))).toBe(false)
  })

  test('a temporary folder that others can replace, or with a long path, is not used', async () => {
    const open = dataFolder()
    chmodSync(open, 0o777)
    for (const dir of [open, dataFolder(3)]) {
      vi.stubEnv('TMPDIR', dir)
      onTestFinished(() => void vi.unstubAllEnvs())
      expect(dirname(dirname((await listening(dataFolder(3))).path))).toBe('/tmp')
    }
  })

  test.each([
    ['EACCES', 'dataDir must be a folder of this user alone, on a local disk'],
    ['ENAMETOOLONG', 'give a shorter dataDir, or an XDG_RUNTIME_DIR of this user alone'],
  ])(
    'the system error %s is reported with a hint, and no files are left behind',
    async (code, hint) => {
      const error = Object.assign(new Error('no'), { code })
      const server = new EventEmitter()
      const listen = () => setImmediate(() => server.emit('error', error))
      const [dataDir, runtimeDir] = [dataFolder(3), dataFolder()]
      const played = Object.assign(server, { listen }) as unknown as Server
      await expect(listenAtSocket(played, dataDir, runtimeDir)).rejects.toMatchObject({
        code: 'listen',
        message: `the control socket in ${dataDir} cannot be made (${code})`,
        hint,
        cause: error,
      })
      expect([readdirSync(dataDir), readdirSync(runtimeDir)]).toEqual([[], []])
    },
  )

  test.skipIf(!isRoot)(
    'the socket of another user is neither connected to nor removed',
    async () => {
      const dataDir = dataFolder(3)
      const path = join(socketFolder(), 'control.sock')
      const thief = await listener(path)
      for (const one of [dirname(path), path]) chownSync(one, NOBODY, NOBODY)
      point(dataDir, path)
      const place = await listening(dataDir)
      expect([thief.heard(), existsSync(path), place.path === path]).toEqual(['', true, false])
    },
  )

  test.each(['control.sock', 'control.path', `control.path.${process.pid}.tmp`])(
    'a symbolic link in place of %s is replaced, and its target is unchanged',
    async (name) => {
      const dataDir = dataFolder(3)
      const other = join(dataFolder(), 'file')
      writeFileSync(other, 'kept')
      symlinkSync(other, join(dataDir, name))
      const { path } = await listening(dataDir)
      expect(readFileSync(other, 'utf8')).toBe('kept')
      expect(readPointer(dataDir, owner)).toBe(path)
    },
  )

  test.each([
    ['is missing', () => '/nowhere/at/all', /cannot be made \(ENOENT\)$/],
    [
      'belongs to another user',
      () => theirs(),
      /cannot be made \(.* belongs to user \d+, not \d+\)$/,
    ],
    [
      'is open to others',
      () => openFolder(),
      /cannot be made \(.* is open to others .mode 750.\)$/,
    ],
  ])('a sidecar does not listen where dataDir %s', async (_what, dataDirFor, message) => {
    await expect(listening(dataDirFor())).rejects.toMatchObject({
      code: 'listen',
      message: expect.stringMatching(message) as unknown,
      hint: 'dataDir must be a folder of this user alone, on a local disk',
    })
  })

  function openFolder(): string {
    const dataDir = dataFolder()
    chmodSync(dataDir, 0o750)
    return dataDir
  }

  function theirs(): string {
    const dataDir = dataFolder()
    if (isRoot) chownSync(dataDir, NOBODY, NOBODY)
    asUser(isRoot ? 0 : owner + 1)
    return dataDir
  }
})

describe('the control socket of a sidecar', () => {
  const statusAt = async (dataDir: string) => {
    await using control = await connectControl(dataDir)
    return await control?.status()
  }

  test.each([
    ['in dataDir', 0],
    ['in a folder elsewhere', 3],
  ])(
    'a second sidecar is refused until the first has removed its socket %s',
    async (_where, depth) => {
      const dataDir = dataFolder(depth)
      const control = await serve(dataDir)
      expect(await statusAt(dataDir)).toEqual(STATUS)
      await expect(serve(dataDir)).rejects.toMatchObject({
        code: 'store-in-use',
        hint: expect.stringContaining('postern status'),
      })
      expect(await statusAt(dataDir)).toEqual(STATUS)
      await control[Symbol.asyncDispose]()
      expect(readdirSync(dataDir)).toEqual([])
    },
  )
})
