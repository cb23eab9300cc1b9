import { afterAll, onTestFinished } from 'vitest'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/create.ts'

/** The fields of an error that tests read. */
export interface ApiResponseError {
  status: number
  code: string
  message: string
  retryAfter?: number
  expected?: string
}

/** An answer of the service, read. */
export interface ApiResponse<T> {
  ok: boolean
  status: number
  headers: Headers
  /** Only when `ok`. */
  result: T
  /** Only when not `ok`. */
  error: ApiResponseError
}

export interface CallOptions {
  body?: unknown
  token?: string | null
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** Calls the API as a bot would. `request` is a method and a path below `/bot/v1`. */
export async function ask<T = unknown>(
  at: Pick<Sandbox, 'url' | 'token'>,
  request: string,
  o: CallOptions = {},
): Promise<ApiResponse<T>> {
  const [method = '', path = ''] = request.split(' ')
  const token = o.token === undefined ? at.token : o.token
  const { body } = o
  const answer = await fetch(`${at.url}/bot/v1${path}`, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...o.headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(o.signal === undefined ? {} : { signal: o.signal }),
    redirect: 'manual',
  })
  const envelope = JSON.parse(await answer.text()) as Pick<
    ApiResponse<T>,
    'ok' | 'result' | 'error'
  >
  return { ...envelope, status: answer.status, headers: answer.headers }
}

/** The result of a call in one word: the code of an error, else the status. */
export async function outcome(
  sandbox: Sandbox,
  request: string,
  o: CallOptions = {},
): Promise<string | number> {
  const response = await ask(sandbox, request, o)
  if (response.ok) return response.status
  if (response.error.status !== response.status) throw new Error('two statuses that differ')
  return response.error.code
}

/** A sandbox with a stopped clock. */
export function still(options: SandboxOptions = {}): Promise<Sandbox> {
  return createSandbox({ clock: 'still', ...options })
}

/** The same with its control and everything of its home; it ends with the test. */
export async function homeScene(options: SandboxOptions = {}) {
  const sandbox = await still(options)
  onTestFinished(() => sandbox[Symbol.asyncDispose]())
  const { control, home } = sandbox
  return { sandbox, control, home, ...home }
}

/** The same sandbox for all tests of a file, which ends with them. */
export async function useSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await still(options)
  afterAll(() => sandbox[Symbol.asyncDispose]())
  return sandbox
}

/** One with phones of alice and bob, and a bot that seals for itself, as a phone would. */
export async function usePhones(options: SandboxOptions = {}) {
  const sandbox = await useSandbox({ rates: 'off', ...options })
  const { home, control } = sandbox
  const { id } = await control.addPerson({ username: 'keeper', firstName: 'Keeper' })
  const [alice, bob, robot] = [
    await sandbox.phone(home.alice.id),
    await sandbox.phone(home.bob.id),
    await sandbox.phone(id),
  ]
  const { certificate: publicKey, fingerprint } = robot
  await ask(sandbox, 'PUT /key', { body: { publicKey, fingerprint } })
  return { sandbox, alice, bob, robot }
}

/** The bot sends into a chat. */
export const send = (sandbox: Sandbox, chatId: number, body: object = { text: 'x' }) =>
  ask<{ id: number; date: number }>(sandbox, 'POST /messages', { body: { chatId, ...body } })

/** The same; gives the message's id. */
export const sent = async (...message: Parameters<typeof send>): Promise<number> =>
  (await send(...message)).result.id

/** A keyboard of one button. */
export const BUTTON = { inlineKeyboard: [[{ text: 'b', callbackData: 'd' }]] }

/** No real certificate; the service does not check it. */
export const A_KEY = {
  publicKey: '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nxjMEZ\n-----END PGP PUBLIC KEY BLOCK-----\n',
  fingerprint: 'A'.repeat(40),
}

/** No real sealed message; the service does not check it. */
export const ARMORED =
  '-----BEGIN PGP MESSAGE-----\n\nwV4DT3VmPqh15HYS\n-----END PGP MESSAGE-----\n'

/** Publishes a key for the home's bot, which makes its private chats encrypted. */
export async function protect(sandbox: Sandbox): Promise<void> {
  const response = await ask(sandbox, 'PUT /key', { body: A_KEY })
  if (!response.ok) throw new Error(response.error.code)
}
