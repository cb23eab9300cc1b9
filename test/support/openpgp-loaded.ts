/**
 * Makes a key, seals, judges, opens and verifies with `openpgp.engine` as its argument names it, and
 * prints a JSON list of all source files that its process and its threads have loaded.
 */
import { Session, type NodeWorker, type Debugger } from 'node:inspector'
import { ByteReader, createEngine } from '../../src/openpgp/index.ts'
import { MemoryRoom } from './memory-room.ts'

const loaded = new Set<string>()
const note = ({ url }: Debugger.ScriptParsedEventDataType): void => {
  if (url.includes('/src/')) loaded.add(url.replace(/^.*\/src\//, ''))
}

const session = new Session()
session.connect()
session.on('Debugger.scriptParsed', ({ params }) => note(params))
session.on('NodeWorker.attachedToWorker', ({ params: { sessionId } }) => {
  const message = JSON.stringify({ id: 1, method: 'Debugger.enable' })
  session.post('NodeWorker.sendMessageToWorker', { sessionId, message })
})
session.on(
  'NodeWorker.receivedMessageFromWorker',
  ({ params }: { params: NodeWorker.ReceivedMessageFromWorkerEventDataType }) => {
    const message = JSON.parse(params.message) as {
      method?: string
      params: Debugger.ScriptParsedEventDataType
    }
    if (message.method === 'Debugger.scriptParsed') note(message.params)
  },
)
session.post('Debugger.enable')
session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })

const engine = createEngine({ engine: process.argv[2] as 'native' | 'library', check: 'all' })
const passphrase = 'loaded'
const createdMs = Date.now() - 60_000
const key = await engine.generate({ userId: 'bot', createdMs, passphrase })
const other = await engine.generate({ userId: 'alice', createdMs, passphrase })
const signer = await engine.unlock(key.locked, passphrase)
await engine.judge(other.certificate)
const certificates = [other.certificate]
const sealed = await engine.seal({ text: 'hello', certificates, signer, cipher: 'aes256' })
const opened = await engine.open(sealed, [signer])
if (opened.outcome !== 'opened' || opened.text !== 'hello') throw new Error(opened.outcome)
const results = await engine.verify(opened.signed, key.certificate, Date.now())
if (results.join(' ') !== 'valid') throw new Error(results.join(' '))
async function* bytes(): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.from(sealed))
}
const room = new MemoryRoom()
const reader = new ByteReader(bytes())
const file = await engine.openFile(reader, { form: 'armored', keys: [signer], room })
if (file.outcome !== 'opened' || file.file.bytes !== 5) throw new Error(file.outcome)
await engine[Symbol.asyncDispose]()
process.stdout.write(JSON.stringify([...loaded]))
