/** The clients whose defaults are compared, each with a program in `programs`. */
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { npm } from '../support/npm.ts'
import { run, shortFolder } from '../support/programs.ts'
import calls from './calls.json' with { type: 'json' }
import { openCallerWorld, type CallerAnswer, type Way } from './world.ts'

const PROGRAMS = join(import.meta.dirname, 'programs')
const { execPath: NODE } = process
const NPM = ['axios@1.21.1', 'got@16.1.0', 'node-fetch@3.3.2', 'undici@8.13.1']

interface CallerClient {
  /** The command that plays the list of calls; its last word is a file of `programs`. */
  start: string[]
  /** A command that prints the version, and fails where the client is not installed. */
  version: string[]
}

const python = (name: string, module = name): CallerClient => ({
  start: ['/usr/bin/python3', `python-${name}.py`],
  version: ['/usr/bin/python3', '-c', `import ${module} as m; print(m.__version__)`],
})
const node = (name: string): CallerClient => ({
  start: [NODE, `${name}.mjs`],
  version: [NODE, '-p', `'${NPM.find((one) => one.startsWith(`${name}@`)) ?? ''}'.split('@')[1]`],
})

export const CLIENTS: Record<string, CallerClient> = {
  'Node, fetch': { start: [NODE, 'fetch.mjs'], version: [NODE, '-v'] },
  undici: node('undici'),
  axios: node('axios'),
  got: node('got'),
  'node-fetch': node('node-fetch'),
  'Python, urllib': python('urllib', 'urllib.request'),
  'Python, requests': python('requests'),
  'Python, httpx': python('httpx'),
  'Python, aiohttp': python('aiohttp'),
  'Go, net/http': { start: ['go', 'run', 'net-http.go'], version: ['go', 'version'] },
  curl: { start: [NODE, 'curl.mjs'], version: ['curl', '--version'] },
  'PHP, curl': {
    start: ['php', 'php-curl.php'],
    version: ['php', '-r', 'echo PHP_VERSION, ", curl ", curl_version()["version"];'],
  },
  'Java, HttpClient': { start: ['java', 'HttpClientCalls.java'], version: ['javac', '-version'] },
  'Ruby, Net::HTTP': { start: ['ruby', 'net-http.rb'], version: ['ruby', '-v'] },
  '.NET, HttpClient': { start: [NODE, 'dotnet.mjs'], version: [NODE, '-p', '"its known bytes"'] },
}

export const isFromNpm = (name: string): boolean => NPM.some((one) => one.startsWith(`${name}@`))

/** Copies the programs into a folder with the packages of npm that they import. @throws Error of npm */
export async function installCallers(): Promise<{ path: string } & AsyncDisposable> {
  const folder = await shortFolder()
  await cp(PROGRAMS, folder.path, { recursive: true })
  await npm(['install', '--no-save', '--prefix', folder.path, ...NPM], folder.path)
  return folder
}

/** The result of one client. */
export interface CallerResult {
  version: string
  /** The headers of a `POST` without a body, but for Host and Authorization. */
  emptyPost: string
  /** Calls whose answers are the same in both ways. */
  same: number
  /** Calls whose answers differ by a promise. */
  promised: number
  /** Other calls whose answers differ, with both answers. */
  differing: string[]
}

/** Plays every call in both ways. @param folder with the programs, and their packages */
export async function compareCaller(name: string, folder = PROGRAMS): Promise<CallerResult> {
  const client = CLIENTS[name]
  if (client === undefined) throw new Error(`there is no client ${name}`)
  const [direct, sidecar] = [
    await playCalls(client, folder, 'direct'),
    await playCalls(client, folder, 'sidecar'),
  ]
  const result: CallerResult = {
    version: await versionOf(client),
    emptyPost: direct.emptyPost,
    same: 0,
    promised: 0,
    differing: [],
  }
  for (const [at, { call, promise }] of (calls as { call: string; promise?: string }[]).entries()) {
    const [one, other] = [direct.answers[at], sidecar.answers[at]]
    if (isDeepStrictEqual(one, other)) result.same++
    else if (promise !== undefined) result.promised++
    else result.differing.push(`${call}: ${JSON.stringify(one)}, ${JSON.stringify(other)}`)
  }
  return result
}

/** @throws Error where the client is not installed */
export async function versionOf({
  version: [program = '', ...args],
}: CallerClient): Promise<string> {
  const { code, stdout, stderr } = await run(program, args)
  const [number] = /\d[^\n(]*\d/.exec(String(stdout)) ?? [String(stdout).trim()]
  if (code === 0) return number
  throw new Error(stderr)
}

async function playCalls({ start }: CallerClient, folder: string, way: Way) {
  await using world = await openCallerWorld(way)
  const { base, sandbox, fill, comparable } = world
  const { token } = sandbox
  const [program = '', ...args] = start
  const file = join(folder, args.pop() ?? '')
  const list = calls.map(({ call, body }) => {
    const [method = '', path = ''] = fill(call).split(' ')
    const prefix = path.startsWith('/media') ? '' : '/bot/v1'
    return { method, path: prefix + path, ...(body !== undefined && { body: fill(body) }) }
  })
  const lines = list.map(({ method, path, body = '' }) => `${method}\t${path}\t${body}`)
  const input = file.endsWith('.java')
    ? [base, token, ...lines].join('\n')
    : JSON.stringify({ base, token, calls: list })
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
  const { stdout, stderr } = await run(program, [...args, file], { input, env })
  const answers = JSON.parse(String(stdout) || `"${stderr}"`) as CallerAnswer[]
  if (answers.length !== list.length) throw new Error(`${answers.length} answers: ${stderr}`)
  const isEmptyPost = ({ path, body }: { path: string; body: string }): boolean =>
    path.endsWith('/typing') && body === ''
  const { headers = [] } = sandbox.transcript.list().find(isEmptyPost) ?? {}
  const pairs = headers.flatMap((value, at) =>
    at % 2 === 0 ? [`${value}: ${headers[at + 1]}`] : [],
  )
  const emptyPost = pairs.filter((line) => !/^(host|authorization):/i.test(line)).join('; ')
  return { answers: answers.map(comparable), emptyPost }
}
