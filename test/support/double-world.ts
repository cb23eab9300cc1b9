/** What the double knows and how it answers when nobody scripted anything (spec, Endpoints). */
import { no, ok, type Answer, type Json, type Received, type Reply } from './double-wire.ts'

export const BOT_ID = 900
export const BOT_TOKEN = `double_${BOT_ID}.${'Tk0_-'.repeat(9).slice(0, 43)}`

/** A person as the service lists them; `key` is a certificate and the fingerprint it claims. */
export interface ListedPerson {
  id: number
  key: { certificate: string; fingerprint: string } | null
}

export interface DoubleChat {
  id: number
  kind: string
  /** For a private chat it follows the bot's mode unless set. */
  mode?: 'open' | 'protected' | undefined
  historyVisible: boolean
  people: ListedPerson[]
  /** Further fields of `GET /chats/{id}`. */
  extra: Record<string, unknown>
}

const OCTETS = { 'content-type': 'application/octet-stream' }

interface Written {
  id: number
  chatId: number
  body: Json
}

interface Waiter {
  offset: number
  limit: number
  give: (updates: Json[]) => void
}

export class DoubleWorld {
  readonly chats = new Map<number, DoubleChat>()
  readonly users = new Map<number, ListedPerson>()
  /** Every send and edit that was taken, as it stood in the body. */
  readonly written: Written[] = []
  bot: Record<string, Json> = {
    id: BOT_ID,
    username: 'double_bot',
    name: 'Double',
    about: null,
    description: null,
    mode: 'open',
    fingerprint: null,
    privacyMode: true,
    allowGroups: true,
    status: 'active',
    webhook: { url: null, hasSecret: false, failures: 0, lastError: null },
    queued: 0,
    limits: { textMax: 4096, armoredMax: 131_072, apiCallsPerMinute: 600, botsPerChat: 20 },
  }
  /** The certificate that `PUT /key` brought. */
  published: { publicKey: string; fingerprint: string } | null = null
  tokenRevoked = false
  /** Stored attachments by id, which are public. */
  readonly files = new Map<string, Buffer>()
  #queue: Json[] = []
  #waiter: Waiter | null = null
  #nextId = 5000
  #sendIds = new Map<string, Written>()

  id(): number {
    return ++this.#nextId
  }

  addUser(key: ListedPerson['key'], id = this.id()): ListedPerson {
    const person = { id, key }
    this.users.set(id, person)
    return person
  }

  addChat(chat: Partial<DoubleChat> & { kind: string }): DoubleChat {
    const made = { id: this.id(), historyVisible: false, people: [], extra: {}, ...chat }
    this.chats.set(made.id, made)
    return made
  }

  /** Puts an update into the queue; `updateId` grows by itself. */
  push(update: Json): number {
    const updateId = this.id()
    this.#queue.push({ updateId, ...update })
    this.#serve()
    return updateId
  }

  /** A Message as it stands in an update. */
  message(chat: DoubleChat, from: ListedPerson | null, parts: Record<string, unknown>): Json {
    return {
      id: this.id(),
      chat: { id: chat.id, kind: chat.kind },
      ...(from && {
        from: {
          id: from.id,
          username: `person_${from.id}`,
          firstName: 'X',
          lastName: null,
          isBot: false,
        },
      }),
      date: Date.now(),
      replyTo: null,
      kind: 'user',
      media: [],
      ...parts,
    }
  }

  /** Whether a poll waits. */
  get isPolled(): boolean {
    return this.#waiter !== null
  }

  endPolls(): void {
    this.#waiter?.give([])
    this.#waiter = null
  }

  /** Stores a file; gives the media item that names it. */
  store(content: Buffer): { id: string; url: string } {
    const id = `file-${this.id()}`
    this.files.set(id, content)
    return { id, url: `/media/${id}` }
  }

  async answer(request: Received, gone: Promise<void>): Promise<Reply> {
    const [, outside, fileId = ''] = request.path.split('/')
    if (outside === 'media') {
      const body = this.files.get(fileId)
      return body === undefined ? no(404, 'media_not_found') : { body, headers: OCTETS }
    }
    if (this.tokenRevoked || request.headers.authorization !== `Bearer ${BOT_TOKEN}`) {
      return no(401, 'unauthorized')
    }
    if (request.method === 'GET' && request.path === '/updates') return this.#poll(request, gone)
    const [, first = '', second = '', third = ''] = request.path.split('/')
    const name = `${request.method} /${first}`
    if (name === 'GET /me') return ok(this.bot)
    if (name === 'PUT /key') return this.#putKey(request.json)
    if (name === 'POST /messages') return this.#send(request.json)
    if (name === 'PATCH /messages') return this.#edit(Number(second), request.json)
    if (name === 'DELETE /messages') return ok({ deleted: true })
    if (first === 'chats') return this.#chat(Number(second), third)
    if (name === 'GET /users') return this.#userKey(Number(second))
    if (name === 'POST /token') {
      this.tokenRevoked = true
      return ok({ revoked: true })
    }
    if (first === 'commands')
      return ok({ scope: 'default', commands: request.json?.commands ?? [] })
    if (name === 'POST /callbacks') return ok({ answered: true })
    if (name === 'GET /resolve')
      return ok({ id: 77, kind: 'person', username: second, user: { id: 77 } })
    return no(404, 'not_found')
  }

  modeOf(chat: DoubleChat): string {
    if (chat.mode !== undefined) return chat.mode
    if (chat.kind === 'private') return String(this.bot['mode'])
    return chat.historyVisible || chat.kind === 'channel' ? 'open' : 'protected'
  }

  #putKey({ publicKey, fingerprint }: Json): Answer {
    this.published = { publicKey, fingerprint }
    this.bot = { ...this.bot, mode: 'protected', fingerprint: fingerprint.toUpperCase() }
    return ok({ fingerprint, mode: 'protected' })
  }

  #send(body: Json): Answer {
    const chat = this.chats.get(body?.chatId)
    const refused = this.#refuse(chat, body)
    if (refused !== null) return refused
    if (body.text === undefined && body.armored === undefined) {
      return no(400, 'bad_request', { error: { expected: 'text' } })
    }
    const known = this.#sendIds.get(body.sendId)
    if (known !== undefined) {
      return known.chatId === body.chatId
        ? ok({ id: known.id, date: Date.now() })
        : no(409, 'conflict')
    }
    const written = { id: this.id(), chatId: body.chatId, body }
    this.written.push(written)
    if (body.sendId !== undefined) this.#sendIds.set(body.sendId, written)
    return ok({ id: written.id, date: Date.now() }, 201)
  }

  #edit(id: number, body: Json): Answer {
    const refused = this.#refuse(this.chats.get(body?.chatId), body)
    if (refused !== null) return refused
    this.written.push({ id, chatId: body.chatId, body })
    return ok({ id, date: Date.now() })
  }

  #refuse(chat: DoubleChat | undefined, body: Json): Answer | null {
    if (chat === undefined) return no(404, 'chat_not_found')
    const expected = this.modeOf(chat) === 'open' ? 'text' : 'armored'
    const wrong = expected === 'text' ? body.armored : body.text
    return wrong === undefined ? null : no(400, 'wrong_body_kind', { error: { expected } })
  }

  #chat(id: number, part: string): Answer {
    const chat = this.chats.get(id)
    if (chat === undefined) return no(404, 'chat_not_found')
    if (part === 'keys') return this.#keys(chat)
    if (part === 'members') return ok({ members: [{ id: 5, status: 'member' }], memberCount: 1 })
    if (part === 'leave') return ok({ left: true })
    if (part === 'typing') return ok({ sent: true })
    const { kind, historyVisible, extra } = chat
    const me = { status: 'member', rights: 0, restrictedUntil: null }
    const memberCount = chat.people.length + 1
    return ok({ id, kind, mode: this.modeOf(chat), historyVisible, memberCount, me, ...extra })
  }

  #keys(chat: DoubleChat): Answer {
    if (this.modeOf(chat) === 'open') return no(400, 'chat_is_open')
    const keys = chat.people.flatMap((person) => record(person) ?? [])
    if (chat.kind !== 'private') return ok({ keys, memberCount: chat.people.length + 5 })
    return keys.length === 0 ? no(404, 'no_user_key') : ok({ keys })
  }

  #userKey(id: number): Answer {
    const person = this.users.get(id)
    if (person === undefined) return no(404, 'user_not_found')
    const found = record(person)
    return found === null ? no(404, 'no_user_key') : ok(found)
  }

  async #poll(request: Received, gone: Promise<void>): Promise<Reply> {
    const query = new URLSearchParams(request.query)
    const offset = Number(query.get('offset') ?? 0)
    this.#queue = this.#queue.filter(({ updateId }) => updateId >= offset)
    this.endPolls()
    const timeoutMs = Number(query.get('timeout') ?? 0) * 1000
    const updates = await new Promise<Json[]>((give) => {
      const waiter = { offset, limit: Number(query.get('limit') ?? 100), give }
      this.#waiter = waiter
      const end = () => {
        if (this.#waiter === waiter) this.#waiter = null
        give([])
      }
      setTimeout(end, timeoutMs).unref()
      void gone.then(end)
      this.#serve()
    })
    return ok(updates)
  }

  #serve(): void {
    if (this.#waiter === null || this.#queue.length === 0) return
    const { give, limit } = this.#waiter
    this.#waiter = null
    give(this.#queue.slice(0, limit))
  }
}

function record({ id, key }: ListedPerson): Json {
  return key && { userId: id, fingerprint: key.fingerprint, publicKey: key.certificate }
}
