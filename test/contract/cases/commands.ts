import assert from 'node:assert/strict'
import { casesOf } from '../case.ts'
import { no, ok, okFields, okList } from '../expect.ts'
import type { Stage } from '../stage.ts'

const START = { command: 'start', description: 'Begins' }
const STOP = { command: 'stop', description: 'Ends' }
const put = (stage: Stage, body: object) => stage.bot.put('/commands', body)
const stored = async (stage: Stage, scope: string): Promise<unknown> =>
  ok(await stage.bot.get(`/commands?scope=${encodeURIComponent(scope)}`))

/** What one command becomes when it is put, or the status of its refusal. */
async function put1(stage: Stage, command: object): Promise<unknown> {
  const answer = await put(stage, { commands: [command] })
  if (answer.status !== 200) return no(answer, 'bad_request')['status']
  return (okFields(answer)['commands'] as unknown[])[0]
}

export const GET_COMMANDS = casesOf('GET /commands', {
  '`GET /commands` lists every scope, or the commands of the given scope': {
    proves: ['endpoint getCommands', 'commands-get', 'command-scope', 'scope-values'],
    needs: ['owner', 'rooms'],
    run: async (stage) => {
      const scopes = ['default', 'private', 'groups', 'groupAdmins', `chat:${await stage.room()}`]
      for (const scope of scopes) ok(await put(stage, { scope, commands: [START] }))
      const all = okList(await stage.bot.get('/commands'))
      for (const scope of scopes) {
        assert.deepEqual(
          all.find((one) => one['scope'] === scope),
          { scope, commands: [START] },
        )
        assert.deepEqual(await stored(stage, scope), [START])
      }
    },
  },
  'an unknown command scope is a bad request': {
    proves: ['scope-values', 'error bad_request'],
    run: async (stage) => {
      for (const scope of ['everybody', 'chat', 'chat:', 'chat:x', 'Default', '']) {
        const query = `?scope=${encodeURIComponent(scope)}`
        no(await stage.bot.get(`/commands${query}`), 'bad_request')
        no(await stage.bot.delete(`/commands${query}`), 'bad_request')
        no(await put(stage, { scope, commands: [] }), 'bad_request')
      }
    },
  },
})

export const PUT_COMMANDS = casesOf('PUT /commands', {
  '`PUT /commands` replaces the list of the default or the given scope': {
    proves: ['endpoint putCommands', 'commands-put', 'commands-replace', 'commands-result'],
    needs: ['owner'],
    run: async (stage) => {
      const first = await put(stage, { commands: [START, STOP] })
      assert.deepEqual(ok(first), { scope: 'default', commands: [START, STOP] })
      ok(await put(stage, { commands: [STOP] }))
      ok(await put(stage, { scope: 'groups', commands: [START] }))
      assert.deepEqual(await stored(stage, 'default'), [STOP])
      assert.deepEqual(await stored(stage, 'groups'), [START])
    },
  },
  'commands with the same name fold to the first': {
    proves: ['commands-fold', 'commands-names'],
    needs: ['owner'],
    run: async (stage) => {
      const twin = { command: '/START', description: 'Again' }
      const answer = await put(stage, { commands: [START, STOP, twin] })
      assert.deepEqual(okFields(answer)['commands'], [START, STOP])
    },
  },
  'command names are trimmed, lower-cased and lose their slash, and have 1 to 32 of a-z, 0-9 and _':
    {
      proves: ['command-name', 'commands-names'],
      needs: ['owner'],
      run: async (stage) => {
        const description = 'Does it'
        for (const [given, kept] of [
          ['  Start ', 'start'],
          ['/stop', 'stop'],
          ['a', 'a'],
          ['x'.repeat(32), 'x'.repeat(32)],
          ['a_1', 'a_1'],
        ]) {
          assert.deepEqual(await put1(stage, { command: given, description }), {
            command: kept,
            description,
          })
        }
        for (const command of ['', '/', 'x'.repeat(33), 'a-b', 'a b', 'é', 7]) {
          assert.equal(await put1(stage, { command, description }), 400)
        }
      },
    },
  'a command description has 1 to 256 characters after whitespace is folded': {
    proves: ['command-description', 'commands-description'],
    needs: ['owner'],
    run: async (stage) => {
      const kept = async (description: unknown) => {
        const command = await put1(stage, { command: 'start', description })
        return typeof command === 'number' ? command : (command as typeof START).description
      }
      assert.equal(await kept('one   two \t three'), 'one two three')
      assert.equal(await kept('x'.repeat(256)), 'x'.repeat(256))
      assert.equal(await kept(`x${' '.repeat(300)}y`), 'x y')
      for (const wrong of ['', '   ', 'x'.repeat(257), 'a\u0007b', 'a\u0000', 7]) {
        assert.equal(await kept(wrong), 400)
      }
    },
  },
  '`PUT /commands` refuses more than 100 commands, or as reported, other fields and no list': {
    proves: ['commands-put', 'limit commandsPerScope'],
    needs: ['owner'],
    run: async (stage) => {
      const some = (count: number) =>
        Array.from({ length: count }, (_, n) => ({ command: `c${n}`, description: 'x' }))
      ok(await put(stage, { commands: some(stage.limits.commandsPerScope) }))
      const wrong = [
        { commands: some(stage.limits.commandsPerScope + 1) },
        {},
        { commands: 'x' },
        { commands: [START], other: 1 },
        { commands: [{ command: 'start' }] },
      ]
      for (const body of wrong) no(await put(stage, body), 'bad_request')
    },
  },
  'the command scope of a chat without the bot answers chat_not_found': {
    proves: ['commands-chat', 'error chat_not_found'],
    needs: ['rooms'],
    run: async (stage) => {
      for (const id of [await stage.room({ bot: false }), 1]) {
        no(await put(stage, { scope: `chat:${id}`, commands: [START] }), 'chat_not_found')
      }
    },
  },
})

/** Puts a list of one command, named after its scope. */
const mark = async (stage: Stage, scope: string): Promise<void> => {
  const command = scope.toLowerCase().replace(/[^a-z]/g, '')
  ok(await put(stage, { scope, commands: [{ command, description: 'x' }] }))
}

export const SCOPES = casesOf('PUT /commands', {
  'a phone offers the commands of the narrowest scope with commands': {
    proves: ['commands-private-scopes', 'commands-group-scopes'],
    needs: ['owner', 'people', 'rooms'],
    run: async (stage) => {
      const group = await stage.room()
      const chat = await stage.privateChat()
      const offered = async () =>
        (
          await Promise.all([
            stage.bob.commands(group),
            stage.alice.commands(group),
            stage.alice.commands(chat),
          ])
        ).map(([first]) => first?.command)
      assert.deepEqual(await offered(), [undefined, undefined, undefined])
      const steps: [string, (string | undefined)[]][] = [
        ['default', ['default', 'default', 'default']],
        ['private', ['default', 'default', 'private']],
        ['groups', ['groups', 'groups', 'private']],
        ['groupAdmins', ['groups', 'groupadmins', 'private']],
        [`chat:${group}`, ['chat', 'chat', 'private']],
      ]
      for (const [scope, expected] of steps) {
        await mark(stage, scope)
        assert.deepEqual(await offered(), expected)
      }
    },
  },
  'an empty command scope does not hide a wider one': {
    proves: ['commands-empty-scope'],
    needs: ['owner', 'people', 'private chat'],
    run: async (stage) => {
      await mark(stage, 'default')
      ok(await put(stage, { scope: 'private', commands: [] }))
      const [first] = await stage.alice.commands(await stage.privateChat())
      assert.equal(first?.command, 'default')
    },
  },
  'the owner edits the same command lists by the same rules, and the last writer wins': {
    proves: ['commands-console', 'commands-fold'],
    needs: ['owner'],
    run: async (stage) => {
      const twin = { command: '/STOP', description: 'Again' }
      await stage.owner.setCommands('private', [STOP, twin])
      assert.deepEqual(await stored(stage, 'private'), [STOP])
      ok(await put(stage, { commands: [START] }))
      await stage.owner.setCommands('default', [STOP])
      assert.deepEqual(await stored(stage, 'default'), [STOP])
      ok(await put(stage, { commands: [START] }))
      assert.deepEqual(await stored(stage, 'default'), [START])
    },
  },
})

export const DELETE_COMMANDS = casesOf('DELETE /commands', {
  '`DELETE /commands` empties the default or the given scope': {
    proves: ['endpoint deleteCommands', 'commands-delete'],
    needs: ['owner'],
    run: async (stage) => {
      for (const scope of ['default', 'groups']) ok(await put(stage, { scope, commands: [START] }))
      const answer = await stage.bot.delete('/commands?scope=groups')
      assert.deepEqual(ok(answer), { scope: 'groups', commands: [] })
      assert.deepEqual(await stored(stage, 'default'), [START])
      assert.deepEqual(ok(await stage.bot.delete('/commands')), { scope: 'default', commands: [] })
      assert.deepEqual(await stored(stage, 'default'), [])
      assert.deepEqual(await stored(stage, 'groups'), [])
    },
  },
})
